"""Words that were put where an agent would read them, so that it obeys or remembers them: recognised by name, English and Chinese.

Read in what tools and pages said, and in drafts that stand on it. What users say themselves is theirs to say.
"""

from hindwise.safety.origin import is_order_in_error
from hindwise.text.cue import Cue
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered

MAX_READ_CHARS = 65_536
"""Of one output; a longer one is a dump, and no draft may hold more than a line of it."""

_TASKS = r"(?:tasks?|runs?|requests?|sessions?|jobs?|conversations?|users?|customers?|calls?)"
_MUST = r"(?:always|never|must|should|use|call|run|send|skip|add|do|first|instead|only)"
_CHECKS = r"(?:checks?|validations?|verification|reviews?|approvals?|confirmations?|tests?|safeguards?|authentication|two-factor \w+)"
_BEFORE_ZH = "(?:之前|以前|先前|此前|原有|原来|已有|旧)"

_EN = {
    "ignore-previous": (
        r"\b(?:ignore|disregard|forget|override|drop) (?:\w+ ){0,3}(?:previous|prior|above|earlier|former|preceding|original|existing)"
        r" (?:\w+ ){0,2}(?:instructions?|rules?|messages?|prompts?|polic(?:y|ies)|orders?|context|memor(?:y|ies))"
    ),
    "standing-order": (
        r"\b(?:for|in|on|before|during|after) (?:the |your |any |all |every )*"
        rf"(?:next|following|future|subsequent|later|further|coming|each|every) (?:\w+ )?{_TASKS}\b.{{0,80}}\b{_MUST}\b"
        r"|\b(?:always|never|must|should|remember to)\b.{0,120}\b(?:next|following|all future|every future|future|each|every)"
        rf" (?:\w+ )?{_TASKS}\b"
        r"|\b(?:standing|permanent|new|system) (?:order|instruction|rule|policy|directive)s? ?[:(\-]"
        r"|\b(?:starting|effective|as of) (?:today|now|immediately)\b.{0,60}\b(?:every|all|each|always|never|only)\b"
        r"|\bwhen(?:ever)? (?:someone|anyone|(?:a|any|the) (?:user|customer)|users|customers) .{0,60}\b(?:always|call|run|invoke|execute)\b"
        r"|\bkeep (?:this|that|it) in mind (?:going forward|from now on|for (?:all|every|future))"
        r"|\b(?:best|recommended|important) to always\b"
        r"|\b(?:call|run|invoke|execut)\w* .{0,60}\b(?:before you (?:answer|reply|respond)|(?:before|prior to) (?:any|each|every))\b"
        r"|\b(?:agents?|assistants?|models?|llms?|bots?|ai)\b,? (?:\w+ )?(?:must|should|shall|need to|have to|are required to)\b"
    ),
    "fake-success": (
        r"\b(?:mark|report|declare|treat|flag|record|log|consider)\b.{0,60}\b(?:as )?"
        r"(?:success(?:ful)?|succeeded|pass(?:ed|ing)|completed?|done|green|ok|resolved|validated)\b"
        r"|\b(?:keep|stay)s? (?:the )?(?:pipelines?|builds?|dashboards?|checks?) green\b|--mark-complete\b"
        r"|(?:_validation|schema_check|status|check)['\"\]]*\s*=\s*['\"](?:ok|skipped|passed|success)['\"]"
        r"|\b(?:verified|validated|proven|approved)\b.{0,40}\b(?:best practice|by (?:the )?(?:admin|security|platform|team|vendor)"
        r"|and safe|100 ?%)"
        r"|\balready (?:finished|completed?|done)\b.{0,40}\bnothing (?:further|more|else) to do\b"
        r"|\b(?:verified|confirmed|approved) by [\d,.]+ (?:\w+ )?(?:users|agents|customers|runs)\b"
        r"|\b(?:this|the) (?:method|approach|procedure|shortcut|fix) (?:always (?:works|succeeds)|never fails|succeeded in (?:all|\d+))"
    ),
    "supersedes": (
        r"\b(?:supersedes?|overrides?|replaces?|obsoletes?|invalidates?) (?:all |any |every |the |your )*"
        r"(?:previous|prior|earlier|older|existing|other|former|known|stored)\b"
        r"|\bthis (?:\w+ )?(?:supersedes|overrides|replaces)\b"
        r"|\b(?:previous|earlier|older|prior|stored) (?:\w+ )?(?:memor(?:y|ies)|notes?|facts?|lessons?|rules?|values?|guidance|guidelines"
        r"|instructions?|knowledge) (?:is|are) (?:now )?(?:obsolete|outdated|invalid|wrong|superseded|void|no longer)"
        r"|\bwhat you (?:\w+ )?(?:learned|learnt|know|knew|remember(?:ed)?|were told)"
        r" .{0,40}\b(?:no longer|wrong|outdated|obsolete|false)\b"
        r"|\bupdate your (?:notes?|memor(?:y|ies)|knowledge)\b"
    ),
    "impersonates": (
        r"\bend of (?:tool |the )?(?:output|response|results?)\b.{0,10}\b(?:user|human|system)\s*:|<system>|</?instructions?>"
        r"|\byou are now in \w+ mode\b|\[(?:memory|system)\]"
        r"|\byour (?:operator|owner|developer|administrator)s? (?:want|ask|requir|has|have)"
        r"|\b(?:save|store|remember|persist) the following (?:preference|fact|note|memory|instruction|rule)"
    ),
    "remote-script": (
        r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n|]{0,200}\|\s*(?:sudo )?(?:ba|z)?(?:sh|python3?|node|perl|ruby)\b"
        r"|\b(?:bash|sh|python3?) (?:-c )?[<\"'$(]{1,4}\s*\(?(?:curl|wget)\b"
    ),
    "skips-checks": (
        rf"\b(?:(?:skip|bypass|disable|omit|circumvent|avoid)(?:s|p?ing)?|disabling) (?:\w+ ){{0,4}}{_CHECKS}\b"
        r"|\bwithout (?:waiting|asking|review|local review|confirm|verif|checking|approval)"
        r"|\bno (?:review|confirmation|approval) (?:is )?(?:needed|required|necessary)"
        r"|\b(?:(?:do|does) not|don't|no|never) need to (?:verify|check|confirm|ask|review)\b"
    ),
}
_ZH = {
    "ignore-previous": (
        r"(?:忽略|无视|忘掉|忘记|丢弃|不要理会|不必理会)(?:掉|了)?(?:你|您)?(?:所有|全部|一切)?的?(?:以上|前面|上述|" + _BEFORE_ZH[3:]
    ),
    "standing-order": (
        r"(?:下一?(?:个|次|项|轮)|以后(?:的|所有|每)|今后|后续|接下来的?|将来|未来)(?:\S{0,6})?"
        r"(?:任务|请求|会话|运行|对话|用户|客户|订单|调用).{0,40}(?:都|必须|一律|务必|总是|始终|要|应|先|直接)"
        r"|(?:以后|今后|往后|从今).{0,14}?(?:都|一律|再)?(?:不要|别|不用|不必|无需|不得|必须|务必)"
        r"|(?:长期|永久|新的?|系统)(?:指令|规则|规定|约定|命令)(?:是)?\s*[:：]"
        r"|(?:即日|今日|今天|现在)起.{0,24}(?:每|都|一律|不再|只)|凡(?:是|有)?\S{1,16}[，,]\s*(?:就|都|一律|即)"
        r"|(?:后续|今后|以后)(?:的)?(?:处理|工作|操作|回答)中?(?:都|一律)?(?:沿用|遵循|照此|照办)"
        r"|(?:每次|任何|每个|所有)\S{1,8}前.{0,8}(?:执行|调用|运行)|(?:回答|回复|答复)(?:之|用户)?前.{0,4}(?:先)?(?:执行|调用|运行)"
        r"|(?:智能体|助手|模型|机器人|AI)\S{0,4}(?:必须|务必|应当|应该|一律|需要)"
    ),
    "fake-success": (
        r"(?:标记|记录|报告|视|判|置|设|写)\S{0,6}(?:为|成)\S{0,3}(?:成功|通过|完成|已验证|正常|已解决)"
        r"|已(?:经)?(?:完成|结束|办妥)\S{0,2}[，,；;]\s*(?:无需|无须|不必|不用|不需要)再?(?:做|进行|处理|执行|操作)"
        r"|(?<![\d,])[\d,]{1,15}\s{0,3}(?:位|名|个|次)\S{0,4}(?:验证|证实|确认)"
        r"|(?:已|经过)\S{0,6}(?:验证|审核|认证|批准)\S{0,12}(?:最佳实践|安全|百分之百|100 ?%|可直接)"
        r"|(?:该|此|这个?)(?:方法|做法|流程|捷径)\S{0,6}(?:总是|从不|百分之百|每次都)"
    ),
    "supersedes": (
        rf"(?:取代|覆盖|替代|作废|废止|替换)(?:掉|了)?(?:你|您)?(?:所有|全部|一切)?{_BEFORE_ZH}"
        rf"|{_BEFORE_ZH}的?(?:\S{{0,4}})(?:记忆|记录|说法|规则|结论|经验|约定|信息|指引|指示|指令|知识|认识)\S{{0,4}}"
        r"(?:作废|失效|无效|过时|被取代|全部删除|不再)"
        rf"|{_BEFORE_ZH}(?:学到|学会|知道|了解|记住|记下)\S{{1,16}}(?:不再|错误|过时|失效)|更新(?:你|您)的(?:笔记|记忆|知识)"
    ),
    "impersonates": (
        r"(?:输出|返回|结果)(?:到此|已)?结束[。.；;，,]?\s*(?:用户|系统)\s*[:：]|(?:你|您)现在(?:处于|进入)\S{1,6}模式|[\[【](?:记忆|系统)[\]】]"
        r"|(?:你|您)的(?:运营者?|主人|开发者|管理员)\S{0,2}(?:要|让|希望|请)(?:你|您)|(?:保存|记住|存储)(?:以下|下列)(?:偏好|事实|记忆|指令|规则)"
    ),
    "skips-checks": (
        r"(?:跳过|绕过|关闭|省略|免去|不做|不用做)\S{0,8}(?:检查|校验|验证|核对|审核|确认|复核|审批|测试)"
        r"|(?:无需|无须|不需要|不必|不用)\S{0,6}(?:确认|审核|复核|核对|核实|验证|批准|等待)"
    ),
}
_ENGLISH = {name: Cue(words) for name, words in _EN.items()}
_CHINESE = {name: lazy_re(words) for name, words in _ZH.items()}

_CLAIMS = frozenset({"ignore-previous", "supersedes", "impersonates", "remote-script", "order"})
"""What no draft may say that stands on a tool or a page, whoever else is quoted with it."""


@remembered(256)
def poison_in(text: str) -> str:
    """Return the name of the first sort of planted words in `text`, or "". For words of tools and pages, and drafts that stand on them."""
    read = text[:MAX_READ_CHARS]
    for patterns in (_ENGLISH,) if read.isascii() else (_ENGLISH, _CHINESE):
        for name, pattern in patterns.items():
            if pattern.search(read):
                return name
    return "order" if is_order_in_error(read) else ""


def is_planted_claim(text: str) -> bool:
    """True for words that only an intruder would put into a conclusion: never mind what was before, this replaces all, fetch and run."""
    return poison_in(text) in _CLAIMS
