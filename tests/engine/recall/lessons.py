"""Fifty lessons in two languages, and questions that some of them answer and that none of them answers. Own work, all of it invented.

A lesson is (conclusion, when it applies, generalised task); a question is (text, number of the lesson that answers it).
"""

LESSONS_EN = (
    (
        "When a refund exceeds 500 dollars, ask a supervisor first, because the refund call is rejected otherwise",
        "large refunds",
        "refund an order",
    ),
    (
        "When cancelling a flight, check the fare class before promising a refund, because basic economy is not refundable",
        "cancelling a booking",
        "cancel a flight reservation",
    ),
    (
        "When adding checked bags, read the membership level first, because gold members have three free bags",
        "baggage requests",
        "add checked bags to a reservation",
    ),
    (
        "When the payment fails twice, offer a gift card instead of retrying, because the third try locks the account",
        "payment declined",
        "pay for a booking",
    ),
    (
        "When changing passengers, never change their number, because the system refuses it",
        "passenger changes",
        "change the passengers of a reservation",
    ),
    (
        "When a migration locks a table, run it in batches of 1000 rows, because long locks stop the checkout",
        "schema migrations on large tables",
        "migrate a database table",
    ),
    (
        "When the nightly build fails at linking, clear the compiler cache, because stale objects survive upgrades",
        "linker errors after a toolchain upgrade",
        "fix a failing build",
    ),
    (
        "When parsing supplier CSV files, detect the encoding first, because half of them are in Windows-1252",
        "importing supplier files",
        "import a csv file",
    ),
    (
        "When the search API answers 429, wait for Retry-After, because backing off by a fixed second gets the key blocked",
        "rate limited search calls",
        "search the product catalogue",
    ),
    (
        "When exporting invoices, sort by invoice number and not by date, because the auditor compares numbers",
        "invoice export",
        "export invoices for audit",
    ),
    (
        "When resizing images, strip the orientation tag after rotating, because phones rotate a second time",
        "photo uploads",
        "resize uploaded photos",
    ),
    (
        "When scheduling a meeting across time zones, confirm the date in both, because the day differs after 4 pm",
        "meetings with Asia",
        "schedule a meeting",
    ),
    (
        "When writing the weekly report, lead with the blocked items, because the manager reads only the first five lines",
        "weekly status report",
        "write a status report",
    ),
    (
        "When a customer asks for an upgrade, list seat prices for each segment, because they differ",
        "cabin upgrades",
        "upgrade the cabin of a flight",
    ),
    (
        "When deploying on Friday, stop at the canary, because nobody watches the dashboards at the weekend",
        "deployments before weekends",
        "deploy a service",
    ),
    (
        "When a login loop is reported, compare clocks first, because tokens look expired on a machine that runs ahead",
        "single sign-on loops",
        "debug a login problem",
    ),
    (
        "When translating product names, keep the trademark in Latin letters, because legal review refuses others",
        "localisation of the shop",
        "translate the shop catalogue",
    ),
    (
        "When merging customer records, keep the older email, because the newer one is often a typo",
        "duplicate customers",
        "merge duplicate customer records",
    ),
    (
        "When compressing backups, verify the checksum before deleting the source, because the disk drops blocks silently",
        "backup rotation",
        "rotate backups",
    ),
    (
        "When a webhook arrives twice, answer 200 and do nothing, because the sender retries on every error",
        "duplicate webhooks",
        "handle an incoming webhook",
    ),
    (
        "When plotting sensor data, drop readings of exactly zero, because the device sends zero when it restarts",
        "sensor charts",
        "plot sensor readings",
    ),
    (
        "When booking hotels for groups, hold the rooms before asking for names, because rates change within minutes",
        "group bookings",
        "book hotel rooms for a group",
    ),
    (
        "When the test suite hangs, look for an unclosed event loop, because the runner waits for threads for ever",
        "hanging tests",
        "fix a hanging test suite",
    ),
    (
        "When rounding tax, round for each line and not for the total, because the tax office recomputes lines",
        "tax on invoices",
        "compute tax for an invoice",
    ),
    (
        "When the printer queue stalls, restart the spooler and resend only the last job, because earlier ones were printed",
        "stalled printers",
        "unblock the printer queue",
    ),
)

LESSONS_ZH = (
    ("当退款金额超过五百元时，应先请主管审批，因为否则退款接口会拒绝", "大额退款", "办理订单退款"),
    ("当取消机票时，应先核对舱位等级再承诺退款，因为特价经济舱不可退", "取消预订", "取消机票预订"),
    ("当生成月度报表时，应先确认时区设置，因为默认按格林尼治时间统计会少一天", "月度销售报表", "生成月度销售报表"),
    ("当知识库检索为空时，应放宽相似度阈值再试一次，因为短问句得分偏低", "知识库问答", "检索知识库"),
    ("当调用天气接口超时时，应改用缓存结果，因为上游每小时限流一次", "调用外部接口", "调用第三方接口"),
    ("当合同里出现手写批注时，应转人工复核，因为识别模型读不准手写字", "合同审核", "审核合同文本"),
    ("当用户上传的表格有合并单元格时，应先拆分再读取，因为解析器只取左上角", "读取电子表格", "导入电子表格"),
    ("当数据库迁移锁表时，应分批执行，因为长时间锁表会让下单失败", "大表结构变更", "执行数据库迁移"),
    ("当客服工单升级时，应附上完整对话，因为二线看不到聊天窗口", "升级工单", "升级客服工单"),
    ("当发布小程序时，应提前两天提审，因为周末不处理审核", "发布小程序", "发布小程序新版本"),
    ("当快递地址缺少门牌号时，应先打电话确认，因为退件要等一周", "核对收货地址", "修改收货地址"),
    ("当语音转写出现人名时，应对照通讯录校正，因为同音字错误最多", "会议纪要", "整理会议纪要"),
    ("当给老客户报价时，应沿用上次的折扣，因为改变折扣要重新签约", "老客户报价", "给客户报价"),
    ("当训练任务显存不足时，应减小批量并累积梯度，因为换小模型会掉点", "模型训练", "训练分类模型"),
    ("当翻译说明书时，应保留零件编号不译，因为仓库按编号备货", "翻译说明书", "翻译产品说明书"),
    ("当库存显示为负数时，应先对账再补货，因为重复扣减很常见", "库存异常", "处理库存异常"),
    ("当登录验证码收不到时，应检查短信签名，因为签名过期后会被拦截", "短信验证码", "排查登录问题"),
    ("当开具发票时，应核对税号的位数，因为少一位会整批作废", "开具发票", "开具增值税发票"),
    ("当安排面试时，应同时发邮件和短信，因为候选人常常漏看邮件", "安排面试", "安排候选人面试"),
    ("当抓取网页失败时，应先看是否需要登录，因为重试只会被封", "网页抓取", "抓取网页内容"),
    ("当压缩视频时，应保留原始字幕轨，因为平台会重新识别出错", "视频处理", "压缩视频文件"),
    ("当撰写周报时，应把阻塞事项放在最前面，因为领导只看前五行", "撰写周报", "撰写工作周报"),
    ("当会员积分清零前，应提前一个月提醒，因为投诉集中在年底", "积分提醒", "发送会员积分提醒"),
    ("当预订团队酒店时，应先锁房再收名单，因为房价几分钟就变", "团队预订", "预订团队酒店"),
    ("当测试环境连不上时，应先检查白名单，因为出口地址每周更换", "测试环境", "连接测试环境"),
)

RELATED = (
    ("A customer wants their money back for a 800 dollar order, how should I handle it?", 0),
    ("Please cancel my flight to Boston and give me my money back", 1),
    ("How many suitcases can I bring on my trip? I want to add two checked bags", 2),
    ("My card was declined when paying for the booking, can we try again?", 3),
    ("Our nightly build is broken since the toolchain upgrade", 6),
    ("Import the new supplier's csv file", 7),
    ("Set up a meeting with the team in Singapore", 11),
    ("Users keep getting logged out and redirected in a loop", 15),
    ("We are shipping the new service version on Friday afternoon", 14),
    ("The tests never finish, they hang at the end", 22),
    ("客户要退一笔八百元的订单款", 25),
    ("帮我取消去北京的机票，能退钱吗", 26),
    ("做一份上个月的销售报表", 27),
    ("这份合同请帮忙审核一下", 30),
    ("用户说登录时收不到验证码", 41),
    ("给候选人安排下周的面试", 43),
    ("写这周的工作周报", 46),
    ("要给公司开一张增值税发票", 42),
)

UNRELATED = (
    "How do I bake sourdough bread at high altitude?",
    "What is the capital of Mongolia?",
    "Tell me a joke about penguins",
    "Which vitamin helps with night vision?",
    "Who painted the Mona Lisa?",
    "How does photosynthesis work?",
    "What time does the sun rise tomorrow?",
    "Recommend a novel about the sea",
    "怎么做红烧肉？",
    "蒙古的首都是哪里？",
    "给我讲个关于企鹅的笑话",
    "光合作用是怎么回事？",
    "蒙娜丽莎是谁画的？",
    "哪种维生素对夜视有帮助？",
    "明天几点日出？",
    "推荐一本关于大海的小说",
)
