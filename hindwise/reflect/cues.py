"""The words by which people say that something went wrong, went well, is a rule, or is not over. English and Chinese side by side."""

from hindwise.text.cue import Cue
from hindwise.text.lazy_re import lazy_re

FILLER = lazy_re(
    r"(?i)\W*(?:ok(?:ay)?|k|yes|yeah|yep|no|nope|sure|thanks?(?: you)?(?: so much| very much| a lot)?(?: for (?:your|the) help)?"
    r"|thx|got it|sounds good|great"
    r"|cool|nice|perfect|hi|hello|hey|hi there|hmm+|let me see|one moment|please|bye|goodbye|continue|go on|done|are you (?:around"
    r"|there)|"
    r"好的?|谢谢你?|多谢|嗯+|收到|明白了?|知道了|哈+|在吗|你好|您好|是的?|对的?|可以|行|没问题|继续|再见|辛苦了"
    r"|了解)(?:[\s,，.。!！?？~]+(?:ok(?:ay)?|thanks?(?: you)?|"
    r"sounds good|got it|are you (?:around|there)|there|明白了?|谢谢|好的?|那就好))*\W*"
)
"""Matches a whole turn (fullmatch) that says nothing."""

THANKS = Cue(
    r"\bthank(?:s| you)\b|\bthat (?:worked|works|did it|fixed it|solved it)\b|\b(?:perfect|great job|awesome|excellent|well done)\b"
    r"|\b(?:works|working|solved|fixed|resolved) (?:now|again|perfectly)\b|\bproblem solved\b|\ball good\b"
    r"|谢谢|多谢|太好了|解决了|搞定|可以了|没问题了|好使了|成功了|完美|辛苦了|正是我要的"
)
COMPLAINT = Cue(
    r"\bstill (?:not|isn'?t|doesn'?t|does not|won'?t|can'?t|failing|broken|wrong|the same (?:error|problem))|\b(?:that|this"
    r"|it)(?:'s| is| was)? "
    r"(?:(?:still|also) )?(?:wrong|incorrect|not what i (?:asked|wanted|meant|need)|not right|not correct|useless|unacceptable"
    r"|not working|broken)"
    r"|\b(?:doesn'?t|does not|didn'?t|did not) (?:work|help|do what)|\byou (?:didn'?t|did not|forgot|missed|misunderstood|ignored"
    r"|got it wrong)"
    r"|\bnot what i (?:asked|wanted|meant)|\b(?:i'?m|i am) (?:very |really |so )?(?:disappointed|frustrated|unhappy|upset)"
    r"|\bwaste of time\b|\bgive up\b"
    r"|还是(?:不行|不对|不能|没有|报错|错|失败|老样子)|不对|错了|不是我要的|不是我想要|没用|不好使|你(?:没|忘|漏|搞错|理解错)|太差"
    r"|失望|不满意|算了|投诉|白费|又(?:崩|错|失败)了"
)
TROUBLE = Cue(
    r"\b(?:doesn'?t|does not|isn'?t|won'?t|still not) (?:work|start|load|open|respond|sync|print|send|show)\w{0,5}\b"
    r"|\bkeeps? (?:failing|crashing|asking)\b|\b(?:i (?:get|got|see|keep getting)|there(?:'s| is)) (?:an? |the )?(?:\w+ ){0,2}"
    r"(?:error|warning|exception)\b|\bwhy (?:is|does|do|are) .{1,40}\bstill\b"
    r"|有误|报错|不生效|没(?:有)?(?:生效|反应|同步|更新)|打不开|连不上|用不了|为什么还|怎么还|又(?:断|崩|失败|报错)|一直(?:报|提示|失败)"
    r"|出(?:问题|错)了?"
)
"""What somebody says is not working."""
HAND_OVER = Cue(
    r"transfer(?:red|ring)?\b.{0,40}\b(?:human|agent|representative|specialist|support|colleague)|escalat(?:e|ed|ing)\b"
    r"|\bhand(?:ed|ing)?(?: (?:you|this|it))?[ -]?over\b|\bpass(?:ed|ing)? (?:you|this|it) (?:on|over) to\b"
    r"|\b(?:refer(?:red|ring)?|forward(?:ed|ing)?|connect(?:ed|ing)?|put(?:ting)?) (?:you|this|it|your \w+)(?: on| through)? (?:to|with)\b"
    r".{0,30}\b(?:human|agent|person|representative|specialist|colleague|supervisor|manager|team|department|support)\b"
    r"|\b(?:colleague|specialist|supervisor|manager|somebody|someone|team|department)\b.{0,40}\b(?:will|is going to)"
    r" (?:take (?:it|this|over|care)|call you|contact you|get back to you|follow up|look into)"
    r"|\bopened an? (?:support )?(?:ticket|case) (?:for|with)\b"
    r"|(?:转给|转到|转至|转交|移交|升级给|升级到|上报给?|交由|交给|提交给).{0,12}(?:同事|人工|客服|专员|部门?|经理|团队|主管|支持|小?组|处)"
    r"|(?:由|请|让|叫).{0,6}(?:同事|专员|主管|经理|人工|负责人).{0,8}(?:接手|跟进|处理|联系|回复|回电)|(?:接通|连线|接入)人工"
    r"|(?:human|live) agent|转(?:接|到|给|交)?(?:给)?(?:了)?人工|人工(?:客服|处理|坐席)|转接|升级处理"
)
HAND_OVER_CALL = lazy_re(
    r"(?i)(?:transfer|escalate|hand_?over|handoff|forward)[a-z_]*(?:human|agent|person|support|staff)?|转人工|人工|转接|转交|移交"
    r"|(?:request|call|contact|involve|refer_to)_(?:a_)?(?:human|agent|person|staff|supervisor|colleague)"
)
GIVEN_UP = Cue(
    r"\b(?:i'?m|i am|we'?re|we are) (?:sorry|unable|afraid)\b.{0,80}\b(?:unable|can'?t|cannot|could not|couldn'?t|not able"
    r"|not possible)"
    r"|\b(?:unable|failed) to (?:complete|finish|process|do)|\bcould not (?:be )?(?:complete|finish|process)"
    r"|(?:抱歉|对不起|很遗憾).{0,30}(?:无法|不能|没能|未能)|(?:处理|执行|提交|任务)失败"
)
REFUSED = Cue(
    r"\b(?:i'?m|i am|we'?re|we are) (?:sorry,? but |afraid |currently )?(?:i |we )?(?:unable|not able|not allowed|can'?t|cannot)\b"
    r"|\b(?:i|we) (?:currently |also )?(?:can'?t|cannot|could not|couldn'?t|don'?t have the (?:ability|option)|won'?t be able)\b"
    r"|\b(?:it|this|that|they|reservation|order|request)\b.{0,40}\b(?:cannot|can'?t|can not) be\b|\b(?:is|are) not (?:possible"
    r"|eligible|permitted|allowed)\b|\b(?:isn'?t|not) (?:possible|something (?:that )?(?:i|we)\b|within (?:my|our)|in (?:my|our) power)"
    r"|\b(?:outside|beyond) (?:of )?(?:what (?:i|we)|my|our)\b|\bno way (?:for me |for us )?to\b|\bnothing (?:i|we) can\b"
    r"|\b(?:does not|doesn'?t|do not|don'?t) (?:permit|allow|support)\b|\b(?:won'?t|does not|doesn'?t) let (?:me|us)\b"
    r"|\b(?:i|we) (?:don'?t|do not) (?:offer|provide|have (?:the )?(?:permission|access|authority|rights?))\b"
    r"|\bno (?:permission|authority) to\b|\bnot authori[sz]ed to\b"
    r"|(?:无法|没法|没有?办法|不能|不可以|不支持|没有?权限|无权|无能为力|爱莫能助|不让(?![您你])|不予?受理|不予(?:退还?|办理|批准|报销|处理)|[\u4e00-\u9fff]不了(?![解])|[做办]不到"
    r"|[办做开查改退换发调订约撤弄打找搜装连]不(?:出来?|回来?|成|上来?|下来|掉|动)(?!吗|么)"
    r"|不符合|不允许|不提供|不在.{0,8}(?:权限|范围)|超出.{0,8}(?:权限|范围))"
)
"""The agent says that it will not or cannot do what was asked."""
WITHDRAWN = Cue(
    r"\bnever ?mind\b|\bforget (?:it|about it)\b|\binstead\b|\bno need\b|\bi(?:'ll| will) (?:do|handle|manage"
    r"|take care of) (?:it|that|this)\b"
    r"|\bdon'?t (?:bother|worry)\b|不用了|不必了|算了|我自己(?:来|去|弄|办)|改成|换成"
)
FORGOTTEN = Cue(
    r"\byou (?:still |also )?(?:forgot|failed|neglected|omitted) to (?P<en>[^.!?,;]{4,80})"
    r"|\byou (?:still |also )?(?:didn'?t|did not|haven'?t|have not|never) (?P<en2>[^.!?,;]{4,80})"
    r"|(?:(?<![\u4e00-\u9fff])|(?<=[你您们像乎么又也都是然]))(?:忘了|忘记了?|漏了|漏掉了?|还没有?|没有?(?=给我|帮我|替我|把)|(?<=[你您])没有?)"
    r"(?P<zh>[^，。！？!?；]{2,30})"
    r"|(?:^|(?<=[，。！？!?；\s]))(?P<thing>[\u4e00-\u9fff]{2,8}?)(?:一直|到现在|怎么|都|还|也){1,3}没有?(?P<deed>发|寄|退|给|办|取消|订|改|开|做)"
    r"(?=给?我|过来|下来|[呢啊吗。！!？?，]|$)"
)
"""A complaint that names what was not done. In Chinese it has no other subject than the agent: 「第二块盘还没备份」 blames nobody."""
FINISHED = Cue(
    r"\b(?:has been|have been|is|was|successfully) (?:\w+ ){0,2}(?:completed?|finished|booked|cancell?ed|updated|sent|created"
    r"|deployed|submitted|done)"
    r"|\ball tests pass|\b(?:done|finished|completed)[.!]|已(?:经)?(?:成功)?(?:完成|提交|更新|取消|预订|发送|部署|处理好|创建|修复)"
    r"|(?:全部|任务)完成"
)

CORRECTION = Cue(
    r"^\W*(?:no[,.;!]|nope\b|actually\b|correction\b|wait[,.]|sorry[,.]|i meant\b|not like that|that(?:'s| is| was) (?:wrong"
    r"|not right|incorrect|not what)|wrong\b|(?:that|it) should (?:be|have been|say)\b|i said\b|not the\b"
    r"|you (?:mixed|got \w+(?: \w+)? wrong)|hold on[,.]|(?:the )?other way (?:a)?round)"
    r"|\bi (?:asked for|said|wrote|ordered|wanted)\b[^.!?]{1,40}, not\b"
    r"|\bi (?:have )?changed my mind\b|\bnot [\w' -]{1,40}[,;]? but (?!also|only)|\binstead of\b|\bi meant\b"
    r"|^\W*(?:不对|不是|不，|错了|说错了|搞错|弄错|写错|填错|看错|听错|拼错|弄反|搞反|反了|更正|等等|等一下[，,]|应该是|我的意思是|我说的是|我要的是)|我改(?:变)?主意了|改主意了|我是说|而不是|写反了|看错了|记错"
    r"|你(?:们?)(?:\S{0,12})(?:弄混|搞混|搞反|弄反|弄错|搞错)|是(?!的[，,])[^，。！？]{1,16}[，,]\s*(?:而)?不是[^，。！？]{1,16}(?:[。！!]|$)"
    r"|不是[^，。！？]{1,16}[，,]\s*(?:而)?是[^，。！？吗]{1,16}(?:[，。！!]|$)"
    r"|^\W*(?:that(?:'s| is) (?:outdated|out of date|no longer)|这个?(?:已经)?(?:过时|过期|不是最新))"
)
RETRACTION = Cue(
    r"\bforget what i said|\bscratch that\b|\bdelete that\b|\bthat was wrong\b|\bi (?:mixed|misread|misspoke|was wrong"
    r"|was (?:only )?joking)"
    r"|\bwas never true\b|\ball along\b|\bi never (?:said|had)\b|说错了|弄混了|看错了?表?|记错人?了|那条(?:不对|删掉)|当时是开玩笑"
    r"|从来没有?这回事|写反了"
)
CHANGE = Cue(
    r"\bfrom now on\b|\bfrom today\b|\bgoing forward\b|\bactually\b|\bchanged my mind\b|\binstead\b|\bno longer\b|\bany ?more\b"
    r"|\bthese days\b"
    r"|\bin future\b|\bin the future\b|\bhenceforth\b|\bwould rather\b|以后|从今(?:天|往后|以后)起?|今后|改成|改为|改主意|不再"
    r"|还是.{0,8}吧|现在(?:只|都|改)|往后|日后|下[次回]"
)
STANDING = Cue(
    r"\bfrom (?:now|here|this point|today) on(?:wards?)?\b|\bfrom today\b|\bgoing forward\b|\bhenceforth\b|\bin (?:the )?future\b"
    r"|\bby default\b|\bnext time\b|\b(?:don'?t|do not) (?:ever )?\w+ (?:me|us) (?:anything|any|stuff)\b"
    r"|^\W*(?:and |also |so |but |please )*(?:don'?t|do not|only) \w+ (?:[\w']+ ){0,6}(?:on|before|after|at|during)"
    r" (?:\w+days|weekends|nights|mornings|evenings)\b|[:;] ?(?:please )?(?:always|never) (?!mind\b)\w+"
    r"|\bevery time\b|\bwhenever\b"
    r"|^\W*(?:and |also |so |but )?(?:please )?(?:always|never)\b(?! mind)|[,;:] ?(?:so )?(?:please )?(?:always|never) (?!mind\b)\w+"
    r"|\bplease (?:always|never|remember|stop)\b"
    r"|\byou (?:should|must|can) (?:always|never)\b|\b(?:don'?t|do not) ever\b|\bi (?:want|need) you to (?:always|never)\b"
    r"|^\W*remember\b(?! when)"
    r"|(?:^|[,;.!:] ?|\b(?:and|please|but|so) )(?:please )?(?:keep in mind|remember|bear in mind)(?: that)? (?:i|my|we|our)\b"
    r"|(?:记得|记着|别忘了)我(?!说|讲"
    r"|问|上次|们?之前)"
    r"|^\W*(?:please )?stop \w+ing\b|\b(?:don'?t|do not) (?:\w+ ){1,8}(?:again|any ?more)\b|\bour api (?:also )?needs\b|^\W*for every\b"
    r"|\bin all (?:further|future)\b|(?<![完了之过])以后|今后|从今(?:天|往后|以后)起?|一律|每次都?|总是|永远|别再|不要再|再也不要"
    r"|请?记住|务必|必须|下[次回](?!再)也?|往后|日后(?!再)|一定要?(?:先)?"
    r"|(?:^|[，。；])(?![^，。]{0,6}[今明这那本])[^，。]{2,10}(?:之前|前|之后|后)(?:都|一律)(?:要|得|必须|应该)?先"
    r"|凡是?[^，。？?]{1,14}[，,](?:都|一律|先|要|得|必须|不要|别|不)|统一(?:用|写|转|走|发|按|叫|改)|涉及[^，。]{1,10}的[^，。]{0,6}(?:不要|别|都|一律|先)"
    r"|每(?:天|周|月|周[一二三四五六日]|星期.|季度|年)(?:[早上中下]午|早上|晚上)?(?:都|要)?(?:给我|发我|发给我|提醒我)"
    r"|没有?我(?:的)?(?:点头|同意|批准|确认)[，,]?(?:就)?(?:不要|不能|别|不许)"
    r"|(?:拿不准|不确定|不清楚|有疑问)的?(?:地方|时候|事)?[，,]?(?:都|就)?(?:直接|先)?问我|不用给我(?:解释|讲|说明)"
    r"|[\d一二三四五六七八九十百千万]{1,12}(?:元|块|万)?以上的?[^，。]{0,4}(?:都|走|先|一律)|[\u4e00-\u9fff]{2,6}只(?:用|走|发|接受)[^，。]{2,10}[，,]不"
    r"|(?:^|[，。；])(?:代码里的|表格里的|邮件里的?|报告里的?|对外的?)?(?:时间|日期|金额|数字|价格|单位|人名|地名|引用|注释|文件名|标题|称呼|落款)"
    r"(?:都|一律)?(?:用|要用|写成|要写成|保留|按|不要超过|要注明|精确到)"
    r"|都按[^，。]{1,8}(?:来|算|办|填|写|走)|(?:这类|这种|此类)[^，。]{1,8}(?:用不着|不用|不要|别|都|一律)|能(?:选|用|坐|走|订)[^，。]{1,6}就(?:选|用|坐|走|订)"
    r"|(?:^|[，。；])(?![^，。]{0,10}[我这那])[^，。]{2,10}(?:不能|不得|不许)(?:带|出现|透露|外传|外发|写|含|放|超过|早于|晚于|少于|发货|公开|提)"
    r"|(?:^|[，。；])(?![^，。]{0,6}[我这那])[^，。]{2,6}只能(?:在|用|由|走|选|写)|(?:不要|别)给我[^，。这那]{1,6}的[^，。]{0,4}[，。]"
    r"|(?:^|[，。])(?:我)?(?:跟[你您]|早就|都|已经)*(?:说|讲|强调)过(?:了|很?多次|好几[次遍]|[多几][次遍])[，,]"
    r"|\bi(?:'ve| have)? (?:already )?told you (?:before|already|many times|twice)\b"
    r"|长期都?(?:要|得)?这样|这是(?:规定|规矩|惯例|硬性要求)|(?:^|[，。；])[^，。这那本今明]{2,8}里(?:都|一律)?(?:记得|别忘了|不要|别|要)"
    r"(?:写|加|附|带|标|注|出现|放)"
    r"|(?:回答|回复|答复|解释|总结|汇报)[^，。？?]{0,12}(?:就行|就好|就可以|即可|就够了)"
    r"|给[^，。这那]{1,8}的?(?:邮件|信|回复|报价)?的?(?:落款|称呼|签名|署名|抬头|开头|结尾|语气)(?:都|一律)?(?:用|写|要|不要|别)"
    r"|默认(?:用|都|情况)|都?(?:就|要)?按这个(?:来|办)|就这么办|从现在(?:起|开始)|从此|以.{1,12}为准|千万(?:别|不要)|绝对?(?:不能"
    r"|不要|不可以)"
    r"|(?:不要|别)(?:再)?给我.{0,8}(?:任何|什么)"
    r"|, (?:please )?(?:always|every time)[.!]?$"
    r"|\b(?:every|each) (?:\w+ )?\w+ (?:needs|must|should|has to)\b|\bmake it a (?:habit|rule)\b"
    r"|\b(?:our|my) (?:rule|policy|custom|convention) (?:is|says)\b|\bit(?:'s| is) (?:our|my) (?:rule|policy|custom) (?:to|that)\b"
    r"|^\W*for (?:all |any )?\w+s, (?:please )?(?:use|put|write|add|include|send|choose|keep|start)\b"
    r"|\b(?:keep|limit) (?:\w+ )?(?:replies|answers|e-?mails|reports|summaries|titles|subject lines|meetings)\b[^.!?]{0,30}"
    r"\b(?:under|below|within|to at most|shorter)\b"
    r"|养成.{1,14}习惯|(?:规矩|规定|惯例)(?:是|就是)|一旦.{1,20}[，,]?(?:先|就要?|马上|立即|都)"
    r"|每[份个封张条篇次](?!.{0,3}[人位]).{1,14}都?(?:得|要|必须|需要)(?:有|写|加|附|带|先)"
    r"|(?:回复|邮件|报告|标题|摘要|总结|会议)[^，。]{0,6}(?:控制在|不要超过|不超过|保持在)"
    r"|^[^，。这那两\d]{2,6}(?:不用|不必|不要)再?(?:给我看|发给我|抄送我|通知我)|^[^，。这那两]{2,8}(?:前|后|以上|以下)的都(?:别|不要)"
)
_FOR_ALL = lazy_re(
    r"(?:所有|任何|凡是|每[个份封张次当]|提到.{1,10}|超过.{1,8}|低于.{1,8})的?[^，。]{0,10}[，,]?[^，。]{0,6}(?:都|一律|均)(?:要|得"
    r"|打|加|用|写|有|放|先|标|不)"
)
_EACH = lazy_re(
    r"^\W*我们?的[\u4e00-\u9fff]{2,8}都(?:要|得|应该)?(?:用|写|放|标|加|附|选)|^\W*(?![^，。]{0,6}[两二三四五六这那\d])[\u4e00-\u9fff]{2,8}都(?:要|得|应该)(?:用|按|以|写|标|放|加|附)"
)
"""「距离都要用公里」: of a thing in general, neither counted nor pointed at."""
_ONCE = lazy_re(r"把|帮我|替我|给我|一下|现在|马上|今天|明天|取消|都办|已经?|了[。！!]?$")


def is_standing(text: str) -> bool:
    """True for an order that holds from now on; 「所有…都要…」 only where it is no request of today."""
    return STANDING.search(text) is not None or ((_FOR_ALL.search(text) or _EACH.search(text)) is not None and not _ONCE.search(text))


UNFINISHED = Cue(
    r"\bstill (?:need|have) to\b|\bremind me\b|\bto-?do\b|\b(?:haven'?t|hasn'?t) (?:\w+ ){0,3}(?:yet|finished|done)\b|\bnot (?:done"
    r"|finished) yet\b"
    r"|\b(?:let'?s|we(?:'ll| will| can)) (?:continue|finish|pick (?:this|it) up|do the rest) (?:\w+ ){0,3}(?:tomorrow|later|next)"
    r"|\bremaining (?:work|steps?|tasks?)\b"
    r"|\b(?:is|are) (?:still (?:open|pending)|(?:still )?(?:missing|outstanding))\b"
    r"|\blet'?s do (?:it|that|this|the \w+) (?:tomorrow|later|next"
    r"|another)\b"
    r"|\bleft to do\b|\bfollow up (?:on|with)\b"
    r"|还没(?:有)?(?!.{0,4}呢吗)(?!(?:[发寄退给回]|告诉)给?我)|还(?:需要|要)(?:再|继续|补|等|完成)|还得(?![问说想看])|还(?:差|剩)|提醒我|待办|下次再|回头再|明天(?:再|继续)"
    r"|剩下的(?:工作|任务|活儿?|事情?|步骤|部分|内容|(?=[^，。]{0,6}(?:下次|明天|改天|回头|以后|之后|稍后|晚点|再)))"
    r"|没(?:做|写|弄)完(?!就)|未完成"
    r"|改天再"
)
HYPOTHETICAL = Cue(
    r"\bif i (?:were|was|had|moved|could)\b|^\W*(?:suppose|imagine|what if|say i|let'?s say|assume)\b|\bmaybe one day\b"
    r"|\bi might\b|\bwho knows\b|\bhypothetical"
    r"|如果我|假设|要是我|万一|假如|倘若|说不定|也许哪天|可能哪天"
)
JOKE = Cue(
    r"\bhaha+|\bjust kidding\b|\bjk\b|\blol\b|\bqueen of the moon\b|\boh great,|\bexactly what i love\b|哈哈|开玩笑|上辈子|我可太"
    r"|饿得能吃下"
)
SARCASM = Cue(
    r"^\W*(?:oh |just |how )?(?:great|wonderful|fantastic|lovely|brilliant|awesome|perfect|marvell?ous|terrific)\b[,.! ].{0,60}"
    r"\b(?:again|another|crash(?:ed|es)?|broken?|down|on fire|late|failed)\b|^(?:真是?)?(?:太好了|太棒了|好极了|真棒"
    r"|可真行).{0,20}(?:又|再次|崩|坏|挂|着火|罢工)"
)
"""Praise for what went wrong: nothing in such a turn is meant as it is said."""
PAST = Cue(r"\bback in \d{4}\b|\bused to\b|\bwhen i was\b|\bpreviously\b|\bformerly\b|那会儿|以前(?!的)|当年|曾经|小时候")
QUOTED = lazy_re(r"[\"“”「『][^\"“”」』]{0,500}[\"“”」』]")
REPORTED = Cue(r"\b(?:said|says|wrote|writes|claims?|states?|according to|told (?:me|us))\b|说|写着|写道|声称|认为|原文|评论")


def is_filler(text: str) -> bool:
    """True when a whole turn says nothing worth keeping."""
    return len(text) <= 80 and (not text.strip() or FILLER.fullmatch(text.strip()) is not None or not any(c.isalnum() for c in text))
