"""Words that follow "the password is" or 「密码是」 without being a password. Lists, no rules: see `spoken`."""

from hindwise.text.lazy_re import lazy_re


def words_of(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


FUNCTION = words_of(
    """and but or nor so because which that this these those please when if then to on in at for from with by as of the a an is was are
    were be been being not now again today yesterday tomorrow anymore already still too very really also only just since until while
    after before into onto over under it its my your our their his her i you we they he she there here what who whom whose how why
    where ok okay thanks thank though however unless once can cannot can't could couldn't should shouldn't must mustn't will won't would
    may might do does doesn't did didn't has hasn't have haven't had no yes never always usually maybe perhaps about per between both
    either neither some any all each every more most less least much many such than via without within during through every"""
)
"""Words of grammar: no password begins with one, and a phrase ends before one."""

PREDICATES = words_of(
    """wrong incorrect invalid expired expiring weak strong missing needed required reset changed correct right valid unknown known stored
    hashed encrypted masked secure insecure safe unsafe set unset asked stolen lost lengthy protected mandatory optional rejected
    accepted refused leaked compromised forgotten rotated case-sensitive case sensitive read-only write-only self-explanatory short long
    shorter longer stronger weaker empty blank bad good better fine default same different new old older hard easy simple complex
    complicated plain plaintext public private temporary temp permanent random unique visible hidden dead gone broken bound tied
    important due ready available unavailable necessary unnecessary confidential secret personal shared reused unchanged identical
    similar obvious guessable common sent typed entered gone kept saved shown written printed given provided attached tbd todo n/a none null
    nil true false string str text int bytes undefined any hidden up down out off back back-dated mine yours ours
    obsolete outdated stale current inactive active disabled enabled locked blocked banned hashed salted salt
    policy prompt dialog field reset-link alright case-insensitive numeric alphanumeric ascii unicode"""
)
"""What is told of passwords."""

BEGIN_TWO_WORDS = words_of(
    "correct right secret hidden strong simple new old long short private random plain blank empty broken lost stolen dead"
)
"""Predicates that begin a password of two words rather than tell what happened to it."""

BESIDE_PREDICATES = words_of(
    """enough error errors message messages info information data stuff text texts thing things one ones news noise garbage sauce sir madam
    bro mate man dude folks team guys everybody everyone knowledge sense practice hygiene security work idea monday tuesday wednesday
    thursday friday saturday sunday january february march april june july august september october november december last next
    time times day days week weeks month months year years hour hours minute minutes morning afternoon evening night tonight noon
    first second third twice format case way elsewhere everywhere anyway anymore instead credential credentials key keys hash hashes
    account accounts client clients server servers service database browser file files protection english answer bytes byte base
    behind inside outside against beside near above below across along among around nowhere somewhere
    page site website app attempt attempts option options argument variable setting settings parameter line lines list lists wifi vpn"""
)
"""What follows a predicate where no password is said: "is correct sir", "is long enough", "was reset last week"."""

IMPERATIVE = words_of(
    """see ask check enter use try type choose contact look find get send write tell read pick click copy paste call visit open-ended
    make keep change update ensure note avoid do don't repeat confirm verify continue proceed regain access protect expire match unlock
    log login sign something anything nothing whatever someone somebody"""
)
"""What one is asked to do about it."""

OF_FORMS = words_of(
    """characters character chars letters digits digit symbols field fields required invalid must should minimum maximum min max least
    length password passwords passphrase passcode username user users email mail login birthday name phone input value values string type
    failure failed success read write admin-only sso oauth saml ldap token tokens secret secrets"""
)
"""Words of forms, messages and documentation."""

SAYS_ZH_NOT_BEGIN = lazy_re(
    r"什么|否|不|错|对|正确|必|空|多少|谁|哪|怎|如何|用|由|为|加密|默认|初始|请|输入|需|要|可|已|未|没|无|有|在|给|系统|随机|自动|[一二两三四五六七八九十几半]"
    r"|[您你我他她它]|这|那|同|和|跟|上|下|登录|登陆|存|区分|大小写|字母|数字|个|最|很|太|比较|非常|通过|根据|以|从|被|让|保密|敏感|安全|重要|过期|失效"
    r"|旧|新|原|之前|后来|刚|指|否则|但|所以|因为|如果|当|每|其|另|别|只|都|也|还|就|又|再|先|能|会|应|得|该|自己|随便|任意|纯|明文|密文|哈希|公开|公共|共享"
    r"|秘密$|必填|选填|可选|长度|至少|最少|最多|字符|位数|格式|类型|见|详|查看|参|联系|问|找|忘|管理员|永久|临时|强|弱|简单|复杂|唯一|固定|统一|生日|手机|身份证|学号|工号|姓名|拼音"
)
SAYS_ZH_NOT_END = lazy_re(
    r"[的了吗呢吧么过位着中啊呀啦嘛]$|(?:错误|正确|失败|成功|有误|为空|过短|太短|太长|过期|失效|必填|不变|一样|相同|一致)$"
)
NOT_SAID_ZH = lazy_re(
    r"请|输入|必须|不能|长度|字符|字母|数字|大小写|错误|失败|密码|口令|用户|登录|注册|修改|重置|设置|忘记|过期|默认|随机|生成|加密|保存|存储|管理员"
)
