"""The task behind a Chinese sentence: 「帮我提交4月6日北京出差的交通费报销单」→「提交交通费报销单」.

What asks for nothing gives nothing.
"""

import re

from hindwise.reflect.rules.task_en import Request
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered

MAX_CHARS = 20
MAX_SPECIFIC_CHARS = 40

VERBS = (
    "提交|填写|取消|预订|预定|订购|修改|更改|变更|更新|升级|降级|查询|查看|查找|查|申请|修复|修理|修|写|编写|撰写|起草|生成|制作|创建|新建|建立|发送|发布|发|退订|退款|退|改签|改"
    "|换|翻译|整理|汇总|总结|分析|统计|计算|检查|核对|审核|审批|审查|部署|安装|配置|设置|运行|执行|测试|调试|优化|重构|迁移|导入|导出|下载|上传|删除|添加|增加|加|移除|购买|采购|下单|买|订|支付|付款|缴纳"
    "|安排|制定|规划|设计|准备|对比|比较|推荐|找|搜索|采集|收集|打印|转换|合并|拆分|备份|恢复|重启|启动|关闭|停止|打开|登记|注册|开通|开具|开|办理|处理|联系|通知|提醒|预约|续订|续费|延长|赔偿"
    "|补偿|投诉|解决|排查|定位|校对|润色|改写|画|做|建|调整|调研|报销|汉化|解释|说明|列出|设|拉取|签收|寄|发起|回复|回答|解答|答复|核实|审阅|评估|预测|监控|同步|归档|重置|重设|找回|注销|撤销|撤回|冻结|激活|绑定|解绑|充值|兑换|转让|转账|挂失|签署|盖章|扫描|录入|抄送|转发|租|借"
)
_NOUNS = r"发票|发货单|发现|发生|发烧|订单|办公|设备|设施|开始|开心|退休|加油站|建议|改天|查无|做法|画面|换句"
"""Words that begin with a verb's character and are none."""
_SHORT = "关锁挂拿调清放移转标填停压裁拉剪拆归补插切排拨读倒扔还收"
_COMPLEMENT = r"上|掉|好|完|到|成|为|给|在|一下|走|开|回|出|进|下|过|起|了|[吧。，！]|$"
"""Behind 「把…」 these too are verbs, where what follows says what comes of it: 「把窗帘也关上」, not the 调 of 空调."""
_GREETING = lazy_re(
    r"^(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好|在吗|请问(?:一下)?|麻烦(?:你|您)?|不好意思|打扰了?|好的?|谢谢|那么?|对了|另外|然后"
    r"|首先|现在|接下来|顺便|同时|并且|并(?![购列发行存联])|再)[呀啊吧]?[!！,，。、\s]*"
)
_LEAD = lazy_re(
    r"^(?:我们?)?(?:现在|还|也|今天|明天)?(?:想要?|要|需要|希望|打算|准备|计划)?(?:请|请你|请您|麻烦你?您?)?(?:能不能|可不可以|能否"
    r"|可以|能)?(?:你|您)?(?:先|再|现在|尽快|马上|直接|重新|尝试|试着|试试)?"
    r"(?:怎么|如何|怎样)?(?:帮我们?|帮忙|替我|给我|为我)?(?:你|您)?(?:先|再|现在|尽快|马上|直接|重新|尝试|试着)?"
)
_DATE = lazy_re(
    r"(?:从|自|在|于)?(?:(?:\d{2,4}年)?\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}[日号]|今天|明天|后天|昨天|本周|下周|上周|本月|下个?月"
    r"|上个?月|今年|明年|周[一二三四五六日末])"
    r"(?:\s?[到至~—-]\s?(?:\d{1,2}月)?(?:\d{1,2}[日号])?)?(?:上午|下午|晚上|早上)?(?:的|之前|以前|前)?"
)
_ROUTE = lazy_re(r"从?[\u4e00-\u9fff]{2,4}(?:飞往|飞到|飞|到|至|去往)[\u4e00-\u9fff]{2,4}?(?=的|机票|航班|高铁|火车|车票)")
_COUNT = lazy_re(
    r"(?:这|那|某|每|[一两二三四五六七八九十几\d]+)\s*(?:个|份|张|条|次|封|篇|段|台|件|间|本|位|名|只|项|家|套|笔)|这些|那些"
    r"|一下儿?|一些|这[里儿]"
)
COORDINATE = lazy_re(
    rf"[，,；;]\s*(?=(?:再|并且?|然后|同时|还要?|顺便|也|另外)*(?:请|麻烦你?|帮我|替我|给我)*(?:把|将|(?:{VERBS})[\u4e00-\u9fff]{{2}}))"
)
"""Where a second request begins in one sentence: 「…，再把订金退给我」."""
_ENDS = lazy_re(r"[，,。；;！!？?：:\n（(【\[“”\"…]|(?:并且|然后|因为|所以|但是|如果|以便|以及|并(?=[\u4e00-\u9fff]))")
_TAIL = lazy_re(r"(?:可以|行|好|能办|对)?(?:[吗呢吧啊呀嘛]|(?<![什怎这那多])么)+$|(?:谢谢|多谢|拜托了?)$|了$|[\s、.]+$")
_WHOLE = lazy_re(r"退款|退订|报销|改签|续费|付款|投诉|登录|报税|请假|开票|部署|备份|打卡|重启服务")
"""Verbs that hold their object."""
_SAYS_LITTLE = lazy_re(r"(?:问题|要点|内容|情况|部分|事情|东西|方法|方案|原因|结果|信息|数据|文件|功能|状态|重点|记录)$")
"""Nouns that need what stands before them."""
_FOR_WHOM = lazy_re(rf"^(?:给|为|替|向|对|跟|和)(?!我)[\u4e00-\u9fff…]{{1,8}}?(?={VERBS})")
_PLACE = lazy_re(rf"^在[\u4e00-\u9fff]{{2,6}}?(?={VERBS})")
"""Where it is to be done, said before the verb."""
_POINTING = lazy_re(r"^(?:它|这|那|此|其|上面|下面|刚才|什么|一|吧|吗|呢|了|的|个|点|些|完|好|过|出来|下去)*$")
_WEAK = lazy_re(r"^(?:查看?|找|做|发|加|开|设|改|换|解释|说明|检查)")
_QUESTION = lazy_re(r"怎么|如何|为什么|为何|多少|什么|哪|是否|能不能|有没有|几|吗[？?]?$|[？?]$")


@remembered(512)  # several readers of an episode ask for the same sentences
def request_of(sentence: str) -> Request | None:
    """Return what a sentence asks for, or None. `sentence` has its personal spans replaced by `…`."""
    best: Request | None = None
    for number, clause in enumerate(
        part for part in re.split(r"(?<=[，,。；;！!？?\n])|(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])", sentence) if part.strip()
    ):
        found = _of_clause(clause.strip())
        if found:
            found = found._replace(weight=found.weight - 0.3 * number)
            if best is None or found.weight > best.weight:
                best = found
    return best


def _of_clause(clause: str) -> Request | None:
    text = clause
    for _ in range(3):
        text = _GREETING.sub("", text)
    text = _COUNT.sub("", text)
    bare = _PLACE.sub("", _FOR_WHOM.sub("", _LEAD.sub("", _DATE.sub("", text))))
    if alone := _WHOLE.fullmatch(_cleaned(_ENDS.sub("", bare))):
        return _request(alone[0], alone[0], 3.0)
    if moved := re.match(
        rf"(?:把|将)(?P<what>[^，。]{{2,16}}?)(?!{_NOUNS})(?P<verb>{VERBS}|[付存送交删贴]|[{_SHORT}](?={_COMPLEMENT}))(?!的)(?P<how>成|为|到|给|在)?(?P<to>[^，。；！？!?,]{{0,10}})",
        bare,
    ):
        what, to = _head(_without_owner(moved["what"]).rstrip("都也全")), _TAIL.sub("", moved["to"]) if moved["how"] else ""
        to = "" if to in ("我", "我们") else to
        phrase = f"把{what}{moved['verb']}{moved['how'] or ''}{to}" if to else f"{moved['verb']}{what}"
        return _request(phrase, phrase, 3.0)
    match = re.match(rf"(?!{_NOUNS})(?P<verb>{VERBS})(?P<rest>.+)", bare)
    if not match:
        return _question(bare)
    rest = match["rest"]
    end = _ENDS.search(rest)
    whole = _cleaned(rest[: end.start()] if end else rest)
    general = _ROUTE.sub("", _DATE.sub("", whole)).lstrip("的")
    general = _head(general)
    if len(general) < 2 and whole:
        general = whole
    if _POINTING.match(general) or len(general) < 2:
        return None
    weight = (2.0 if _WEAK.match(match["verb"]) else 3.0) + min(len(general), 8) / 8
    specific = match["verb"] + _cleaned(_before(text, match["verb"]))
    return _request(match["verb"] + general, specific if len(specific) > len(general) else match["verb"] + whole, weight)


def _before(text: str, verb: str) -> str:
    """What follows the verb, dates left in."""
    rest = text.split(verb, 1)[-1]
    end = _ENDS.search(rest)
    return rest[: end.start()] if end else rest


def _without_owner(text: str) -> str:
    return re.sub(r"(?:我们?|你们?|您|他们?|她)的?", "", text)


def _cleaned(text: str) -> str:
    text = _without_owner(text)
    for _ in range(2):
        text = _TAIL.sub("", text)
    return re.sub(r"(?<=[\u4e00-\u9fff])\s+(?=[\u4e00-\u9fff])", "", text).strip()


def _head(text: str) -> str:
    """The thing itself, without what describes it: 「北京出差的交通费报销单」→「交通费报销单」."""
    parts = text.split("的")
    head = parts[-1]
    if len(parts) > 1 and (len(head) < 2 or _SAYS_LITTLE.fullmatch(head)):
        head = "的".join(parts[-2:])
    return head if len(head) >= 2 else text


def _question(text: str) -> Request | None:
    """A question is a task too: it is told as one that was asked."""
    if not _QUESTION.search(text) or not re.search(r"[\u4e00-\u9fff]{2}", text):
        return None
    end = _ENDS.search(text)
    told = _cleaned(re.sub(r"[？?]+$", "", text[: end.start()] if end else text))
    if not 4 <= len(told) <= MAX_CHARS or _POINTING.match(told):
        return None
    return Request(told, told, "about", 1.0)


def _request(phrase: str, specific: str, weight: float) -> Request | None:
    if len(phrase) > MAX_CHARS or "…" in phrase:
        return None
    return Request(phrase, specific if len(specific) <= MAX_SPECIFIC_CHARS and "…" not in specific else phrase, "to", weight)
