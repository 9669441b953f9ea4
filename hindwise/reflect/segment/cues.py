"""The words by which people begin something new, end it, step aside for a moment, or go on. English and Chinese side by side."""

from hindwise.text.lazy_re import lazy_re

_POLITE = (
    r"(?:(?:ok(?:ay)?|alright|all right|right|so|well|great|good|perfect|nice|cool|thanks?(?: you| a lot)?|yes|hi|hello|hey|now|and"
    r"|好的?|好了|行|嗯+|谢谢|多谢|那么?|现在|你好|您好)[\s,，.。!！;；:：-]+)*"
)

_STOP = r"\s*(?:[:：,，.。;；!！–—-]|$)"

OPENS = lazy_re(
    rf"(?i)^\W*{_POLITE}(?:"
    r"(?:(?:i have |there(?:'s| is) |here(?:'s| is) |and |now |on to )*(?:an? |one |my |the )?(?:completely |totally |entirely )?(?:"
    r"(?:new|next|another|different|separate|unrelated|other) (?:task|topic|subject|matter|job|assignment|request)"
    r"|(?:new|next|different|separate|unrelated) question|(?:different|separate|unrelated) (?:thing|issue|problem))"
    rf"(?: for (?:you|today|now)|,? please| now)?{_STOP})"
    rf"|(?:now |on to |next |then |and )*(?:for )?something (?:else|new|(?:\w+ly |quite |very )?(?:different|unrelated))(?: now)?{_STOP}"
    r"|(?:let'?s |let us |can we |could we |shall we |time to )?(?:now )?(?:switch|chang|shift)(?:e|ing)? (?:gears|topics?|"
    r"(?:the )?subject)\b"
    rf"|(?:let'?s |let us |can we |shall we |time to )?(?:now )?mov(?:e|ing) on(?: now)?{_STOP}"
    r"|(?:let'?s |let us |can we |shall we |time to )?(?:now )?(?:move|moving|go|going|turn|turning|switch|switching|jump) (?:over |on )?to"
    r" (?:something (?:else|new|different)|(?:the next|another|a new|a different) (?:task|topic|subject|matter|item|job))\b"
    r"|on (?:an?(?:other| different| unrelated| separate)|a (?:completely|totally|very) different) (?:note|topic|subject|matter|front)\b"
    rf"|(?:a )?change of (?:subject|topic)|(?:completely |totally )?unrelated(?: to (?:that|this))?{_STOP}|next up{_STOP}"
    rf"|(?:再|来|我们|咱们)*(?:换|转)(?:一个|个|(?:到)?下一个|到另一个)(?:话题|任务|问题|题目|主题|事|需求)(?:吧|了|说|聊)?{_STOP}"
    rf"|(?:再|来|还有|有|是|这是)*(?:一?个)?(?:新的?|下一?个|另一?个|另外一?个|不同的|不相关的|无关的)(?:任务|话题|需求|主题|题目)(?:来了)?{_STOP}"
    rf"|(?:再|来|还有|有|问)*(?:一?个)?(?:下一?个|不同的|不相关的|无关的)(?:问题|事情?)?{_STOP}"
    rf"|(?:还有|再说|说|有)?(?:另(?:外)?(?:还)?(?:有)?(?:一|个)*件?(?:别的)?|别的)事(?:情)?(?:要|想)?(?:问|说|办)?{_STOP}"
    r"|(?:我们|咱们|来|再|想|先)*(?:说|聊|谈|讲|问|做|看|处理|弄)(?:说|聊|谈|讲)?(?:一?[点些个下件]|一下)*(?:儿)?"
    rf"(?:别的|其他的?|其它的?|不相关的|无关的)(?:事情?|话题|问题|任务)?(?:吧|了)?{_STOP}"
    rf"|(?:接下来|下面|现在)(?:是|来|有|做|看)*(?:一?个)?(?:新的?|另一?个|下一?个|别的)(?:任务|话题|事情?){_STOP}"
    r"|(?:这|这个)?(?:跟|和|与)(?:刚才|之前|上面|前面).{0,6}(?:没关系|无关|不相关)"
    r")"
)
"""At the beginning of a sentence: what follows is a task of its own. Not "next step" or "another problem": those mostly go on."""

CLOSES = lazy_re(
    r"(?i)\bthat(?:'s| is| was| will be|'ll be| would be) (?:all|it|everything)"
    r"(?: (?:for (?:now|today)|i (?:need|needed|wanted)(?: for (?:now|today))?|from me))?\s*(?:[.,!;]|$|thank)"
    r"|\b(?:nothing|no(?:thing)?) (?:else|more|further)\b(?! (?:than|but|works?|helps?))"
    r"|\b(?:we(?:'re| are)|i(?:'m| am)|all) (?:all )?(?:done|set|finished|good)\b(?! (?:with the|to|by|at|in))"
    r"|\b(?:this|that) (?:one |task |issue |topic |case )?is (?:now )?(?:done|finished|closed|settled|solved|over)\b"
    r"|\bi(?:'ll| will) (?:get back to you|be in touch|contact you|come back to (?:it|this|you)|think about it|reach out)\b"
    r"|\btalk (?:to you )?(?:soon|later)\b|\b(?:everything|all) i (?:need|needed|wanted)\b|\b(?:good)?bye\b|\bsee you\b"
    r"|\bhave a (?:nice|good|great|lovely)\b|\bwe can close this\b"
    r"|就(?:是)?这些|就这样(?:吧|了|[，。！!]|$)|就(?:先)?到(?:此|这)|到此(?:为止|结束)|先这样"
    r"|没(?:有)?(?:什么)?(?:别|其他|其它)的?(?:事|问题|需要)?(?:情)?了?|没事了|没有问题了|结束(?:了|吧)|再见|拜拜|完事"
    r"|(?:都|全|已经|这.{0,4})?(?:办|弄|搞|做|处理|解决)(?:完|好|定|妥)了(?!吗|没|再|就|之后|以后|后|告诉|叫|通知|发|[，,]?但)"
    r"|回头(?:见|再说|联系)|晚点再说|我再(?:想想|考虑)"
)
"""In a short turn of the user: the task is over."""

ASIDE = lazy_re(
    rf"(?i)^\W*{_POLITE}(?:oh,? )?(?:by the way|btw|quick (?:question|aside)|just curious|out of curiosity|side note|incidentally"
    r"|while (?:you|we)(?:'re| are) at it|before (?:that|we go on)|顺便|对了|话说|题外话|插一?句|打个岔|忽然想|突然想|捎带)"
)
"""A question on the side: the task goes on after it."""

ACCEPTS = lazy_re(
    r"(?i)\W*(?:(?:ok(?:ay)?|great|perfect|cool|nice|good|fine|excellent|awesome|wonderful|lovely|super|al(?:l |)right|understood|got it"
    r"|i see|makes sense|works for me|sounds good|(?:ha)++|very (?:good|nice|helpful)|good to know|that (?:works|helps|helped|worked)"
    r"|thanks?(?: you)?(?: so much| very much| a lot)?|much appreciated|cheers|好的?|好了|很好|真好|不错|太好了|太棒了|完美|可以了?|行|懂了"
    r"|明白了?|知道了|了解了?|收到|哈++|嗯++|谢谢(?:你|您|啦)?|谢啦|多谢|非常感谢|感谢|辛苦了)[\s,，.。!！~、]*)+"
)
"""A sentence (fullmatch) that takes what was done for done."""

ADDS = lazy_re(
    rf"(?i)^\W*{_POLITE}(?:(?:oh,? )?(?:and )?(?:also|additionally|besides(?: that)?|in addition|separately|another (?:thing|request)"
    r"|one (?:more|other|last|final) (?:thing|request|favou?r)|while i have you)"
    r"|(?:(?:can|could|would|will) you|please|i|we)(?:'d| would)? also(?: please)?(?: (?:need|like|want(?:ed)?)(?: to)?)?"
    r"|另外(?:呢)?|还有(?:就是|(?:一|个|几)*件?(?:小)?事(?:情)?)?|此外|除此之外|再就是|对了|哦对|还(?:想|要)麻烦)[\s,，:：.。!！—-]*"
)
"""What follows is asked for besides. After a thank-you that may be another task; else it goes on with the same."""

WISHES = lazy_re(
    r"(?i)\bplease\b|\b(?:can|could|would|will) you\b|\bhelp me\b|\b(?:i|we)(?:'d| would)? (?:also |still )?(?:need|like|want)\b"
    r"|\b(?:write|get|find|show|give|tell|make|send|buy|order|book) me\b"
    r"|帮(?:我|我们|忙)|麻烦|替我|给我|请(?!问您|假)|我们?(?:还)?(?:想|要|需要)|提醒我"
)
"""A request in so many words; plain orders ("Run the tests.") are mostly about work in hand."""

EDITS = lazy_re(
    r"(?i)^\W*(?:(?:please|now|then|also|(?:can|could|would|will) you) )*(?:add|change|make (?:it|the|that|this|sure)|put|include|remove"
    r"|replace|rename|shorten|lengthen|adjust|highlight|mark|reformat|insert|append|rewrite|reword|rephrase"
    r"|translate (?:it|the|that|this)|(?:check|see|test|verify|look) (?:whether|if|that) (?:the|it|this|that|all|everything))\b"
    r"|^\W*(?:请|麻烦|帮我|你|再|也|现在)*(?:(?:加|补|插|附)(?:上|入|一)|改(?:成|为|一下|短|长)|换成|删(?:掉|除)|去掉|缩短|润色|调整"
    r"|把.{1,14}(?:改|换|写|删|加|移|调|标|去掉|缩|放))|^\W*(?:再|也|帮我|请)*(?:看看?|检查)(?:一?下)?[^，。]{0,10}"
    r"(?:是不是|是否|对不对|行不行|好不好|[\u4e00-\u9fff]不[\u4e00-\u9fff]{1,3}合)"
)
"""It works on what is there already."""

RETURNS = lazy_re(
    r"(?i)\b(?:(?:going |getting |come |coming )?back to (?:the|my|our|that|this|what)|returning to|where were we|as i was saying"
    r"|(?:let'?s )?(?:continue|resume|carry on|go on) (?:with|where) (?:the|we|that|this|my)|still about)\b"
    r"|说回|回到(?:刚才|之前|正题|那|上面|前面|[\u4e00-\u9fff]{1,8}(?:上|来))|言归正传|接着(?:说|做|弄|刚才)|继续(?:刚才|之前|上面|做|弄|说|吧)"
    r"|刚才(?:说|讲|做|弄)到|回过头|(?:我们)?继续[。！!，,]"
)
"""The turn goes on with what was left."""

GOES_ON = lazy_re(
    rf"(?i)^\W*{_POLITE}(?:also|but|or|then|plus|no\b|nope|not\b|actually|wait|sorry|hm+\b|yes|yeah|yep|i mean|i meant|instead|what about"
    r"|how about|why not|what if|one more|another one|the (?:first|second"
    r"|third|fourth|last|other|later|earlier|one|former|latter)\b|same\b"
    r"|again\b|still\b|better\b|more\b|less\b|too\b|shorter\b|longer\b|did (?:that|it|so)\b|change of plans?|for the (?:next|other|rest)"
    r"|in that case|if (?:so|not)\b|sure\b|please do\b|go ahead|i (?:see|understand)\b|understood\b|which\b(?! form| way"
    r"| of the)|(?:did|have|are|were|why did|when did) you\b"
    r"|还有|先(?!帮)|再(?!帮)|也|然后|而且|但|不过|可是|不对|不是|不用|不要|别|对[，,。！!]|是的?[，,。]|等等|等一下|抱歉|哦不|改(?:成|为|了)|它|他|她|这个(?![月周星季])"
    r"|那(?!天|年|时)|那个|这些|那些|上面|刚才|前面|后面|另外|如果|要是|好些|还是|就[^业是]|第[一二三四五]|更|太|请再|为什么不|所以|以后|因为|你(?:刚才?|已经|有没有|是不是|为什么|怎么))"
)
"""At the beginning of a turn: it goes on with what was said before."""

AND = lazy_re(r"(?i)^\W*(?:and|und)\b")

POINTS_BACK = lazy_re(
    r"(?i)\b(?:it|them|him|her|that one|this one|these ones|those|ones?|there(?! (?:is|are|was|were)\b)|also|too|as well|instead|again"
    r"|that(?=\s*(?:[.,!?]|$|on\b|with\b))|this(?=\s*(?:[.,!?]|$)))(?:'s|'ll)?(?=\W|$)(?! (?:should|will) have)"
    r"|它|他们?的?|她|这个(?![月周星季任问])|那个|那份|这份|那张|那里|那边|上面的|刚才|前面的|也(?!许)|(?:能|可以)再|重新"
)
"""In the first clause: it needs the words before it."""

INVITES = lazy_re(
    r"(?i)\b(?:anything|something|what) else\b|\b(?:any )?(?:other|further|more) (?:questions?|requests?|help|assistance)\b"
    r"|\bhow (?:else )?(?:can|may) i (?:help|assist)|\bfeel free to\b"
    r"|\byou(?:'re| are) (?:very )?welcome\b|\bany ?time\b|\bglad (?:i could|to)"
    r"|\bhave a (?:nice|great|good)"
    r"|还有(?:什么|其他|其它|别的)|(?:其他|其它|别的)(?:需要|问题|可以)|不客气|随时(?:找|问|联系|告诉)|很高兴(?:能)?帮|祝您|还需要(?:我)?(?:做|帮)?(?:什么|别的|其他)"
)
"""The agent says that it is free for something new."""

ASKS_BACK = lazy_re(
    r"(?i)[?？]\s*$|\b(?:please|kindly) (?:provide|share|confirm|tell|give"
    r"|specify|choose|let me know)\b|\bi(?:'ll| will)? (?:first )?need (?:your"
    r"|the|an?)\b|\bcould you (?:please )?(?:provide|tell|confirm|share|give)"
    r"|请(?:您|你)?(?:先)?(?:提供|告诉|告知|确认|选择|说明|补充)|需要(?:您|你)(?:的|先|提供)"
)
"""The agent waits for an answer."""

GREETS = lazy_re(
    r"(?i)^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|greetings|bonjour"
    r"|你好|您好|嗨|哈喽|早上好|下午好|晚上好|早啊?|在吗)(?![a-z])"
)

NEEDS = lazy_re(
    r"(?i)\b(?:i|we)(?:'d| would)? (?:\w+ )?(?:need|want|like|wish|am looking"
    r"|'m looking|was (?:hoping|looking)|have (?:a|an) (?:question|problem|issue))\b"
    r"|\b(?:can|could|would|will) you\b|\bplease\b|\bhelp me\b|\b(?:i'm|i am|we're|we are) (?:looking|trying|hoping)\b"
    r"|我们?(?:还|也|现在)?(?:想|要|需要|打算|希望)|帮(?:我|我们|忙)|请(?!问您|假)|麻烦|给我|替我|^(?:把|将|在.{1,12}[里中上]|给.{2,10})"
)
"""Somebody wants something done."""

ASKS = lazy_re(
    r"(?i)^\W*(?:where|when|what|who|how|why|which|is|are|was|do|does|did|will|can|could|should|would|may|has|have)\b.{6,}\?"
    r"|[\u4e00-\u9fff].{3,}[？?]|(?:怎么|多少|哪[里儿个些]?|什么时候|为什么|是否|能不能|有没有).{2,}"
)
"""A question that could stand alone; a weaker sign than a wish, because most questions are about what was just said."""

OWN_NEED = lazy_re(
    r"(?i)^\W*(?:i|we)(?:'d| would|'m|'ve| have| am)? (?:\w+ ){0,2}(?:need|want|like|wish|looking|trying|hoping|got)\b|^\W*(?:my|our) \w+"
    r"|^\W*(?:please )?help me\b|^(?:我们?(?:还|现在)?(?:想|要|需要|打算|希望)|我们?的|我\S{2,6}(?:坏|漏|丢|断))"
)
"""A turn that begins with what its speaker needs or has: orders about work in hand seldom do."""
