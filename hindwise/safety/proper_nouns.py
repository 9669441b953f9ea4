"""Proper nouns that name nobody: days, months, places and well-known things of work. They may stand in what others read."""

_WORDS = """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec christmas easter

    america american africa african asia asian europe european australia australian canada canadian china chinese japan japanese
    korea korean india indian germany german france french spain spanish italy italian england english britain british ireland irish
    scotland scottish netherlands dutch belgium belgian switzerland swiss austria austrian poland polish portugal portuguese russia
    russian ukraine turkey turkish greece greek sweden swedish norway norwegian denmark danish finland finnish iceland mexico mexican
    brazil brazilian argentina chile peru colombia egypt egyptian morocco kenya nigeria israel arabia arabic singapore malaysia
    indonesia thailand thai vietnam vietnamese philippines taiwan mandarin cantonese latin hawaii alaska texas florida california
    united states kingdom republic new south north east west northern southern eastern western central pacific atlantic

    coast bay area o'hare heathrow logan guardia
    york los angeles san francisco diego jose antonio las vegas chicago houston dallas fort worth phoenix philadelphia seattle denver
    boston miami orlando atlanta detroit minneapolis charlotte portland austin newark jfk washington baltimore honolulu anchorage
    london paris berlin munich hamburg frankfurt cologne rome milan madrid barcelona lisbon amsterdam brussels vienna zurich geneva
    prague warsaw budapest athens istanbul moscow dublin edinburgh manchester stockholm oslo copenhagen helsinki toronto montreal
    vancouver sydney melbourne brisbane auckland tokyo osaka kyoto seoul busan beijing shanghai guangzhou shenzhen chengdu hangzhou
    nanjing wuhan xian chongqing tianjin suzhou hong kong macau taipei bangkok hanoi jakarta manila kuala lumpur delhi mumbai
    bangalore dubai doha cairo johannesburg cape town nairobi lagos rio janeiro paulo buenos aires lima bogota santiago

    airport airlines airways city center street avenue road hotel station international national university bank office
    internet web api app linux windows macos ubuntu debian fedora android ios unix bash python java javascript typescript node npm
    rust golang ruby rails django flask react angular vue docker kubernetes helm terraform ansible jenkins git github gitlab
    bitbucket postgres postgresql mysql sqlite redis kafka mongo mongodb elasticsearch nginx apache temporal airflow spark hadoop
    pandas numpy pytorch tensorflow excel word powerpoint outlook teams office slack zoom jira confluence notion trello asana
    salesforce stripe paypal visa mastercard amex google gmail chrome firefox safari edge microsoft azure amazon aws oracle apple
    facebook instagram twitter linkedin youtube whatsapp telegram wechat alipay taobao dify openai anthropic claude gemini llama
    markdown json yaml xml html css csv pdf utf unicode ascii regex oauth bearer token cloud server client gateway proxy

    error exception traceback warning info debug fatal critical success failure status code invalid missing unknown unable failed
    cannot timeout denied forbidden unauthorized conflict request response internal bad gateway service unavailable limit exceeded
    economy business first class basic premium plus standard express gold silver bronze platinum regular member membership vip
    customer customers user users agent agents assistant system admin support sales staff team manager department policy order
    orders reservation booking ticket flight refund payment card gift certificate credit account invoice insurance baggage
    rate balance amount total date name value field file page item data text line list
    expense expenses report reports budget meeting project contract travel monthly weekly daily annual quarterly sales summary analysis
    review plan form approval application email mail message document presentation schedule calendar event task reminder product price
    quote shipment delivery address password login database table query schema migration test tests build release log logs backup
    payroll salary leave holiday training hiring finance legal marketing research design feature issue pull merge branch commit
    submit create cancel delete send read fetch write close open find get run restart install deploy add remove set start stop move
    copy upload download export import convert translate summarize analyze schedule renew fix review approve reject assign notify ask
    tell verify confirm complete prepare generate compare wrong empty duplicate expired locked blocked rejected denied declined
    insufficient incomplete incorrect outdated broken slow late early no not too only never all every some most customer number
    heroku vercel netlify cloudflare datadog sentry grafana prometheus snowflake databricks bigquery figma miro hubspot zendesk shopify
    quickbooks sap dockerfile makefile procfile readme changelog pip poetry maven gradle cargo webpack vite eslint pytest mypy ruff
    id ids uuid url uri http https null none true false ok yes no note step steps result results
    when asked do not check call use make sure before after first finish change confirm rule keep try wants prefers always never
"""

PROPER_NOUNS = frozenset(_WORDS.split())
"""In small letters, word by word."""
