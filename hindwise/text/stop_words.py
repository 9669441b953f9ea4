"""English function words: they tell nothing about what a text is about. Negations are among them: words find, values compare."""

_WORDS = """
    a an the this that these those
    i me my mine myself you your yours yourself he him his himself she her hers herself it its itself
    we us our ours ourselves they them their theirs themselves
    am is are was were be been being do does did doing done have has had having
    will would shall should can could may might must
    and or but nor so yet if then else than because as while although though unless until
    of at by for with about against between into through during before after above below to from up down in out on off over under
    again further once here there when where why how what which who whom whose
    all any both each few more most other some such only own same too very just also
    no not don don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't cannot couldn't shouldn't haven't hasn't hadn't
    i'm i've i'd i'll you're you've you'll you'd he's she's it's we're we've we'll they're they've they'll that's there's what's let's
    s t d ll m re ve please
"""

STOP_WORDS = frozenset(_WORDS.split())
