"""The task behind an English sentence: a verb and its object, in general words, short enough for a condition.

"Hi! I need to change my return flight from Texas to Newark, please" → `change the return flight`. Where a sentence asks for nothing,
nothing is returned: a broken condition is worse than none.
"""

import re
from typing import NamedTuple

from hindwise.text.cue import Cue
from hindwise.text.lazy_re import lazy_re
from hindwise.text.remembered import remembered

MAX_CHARS = 45
"""Of verb and object: the rest of a conclusion says what to do about it."""

MAX_SPECIFIC_CHARS = 80
"""Of the same with places and adjuncts, for an event that only its user reads."""


class Request(NamedTuple):
    """`phrase`: the task in general words; `specific`: with where and for what; `asks`: "to" for a verb, "about" for a noun."""

    phrase: str
    specific: str
    asks: str
    weight: float


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_STRONG = _words(
    """add adjust apply approve archive arrange assign attach authorize back block book build buy calculate cancel change claim clean
    clear close collect compare compensate compile compose configure connect convert copy correct create debug delete deliver deploy
    design develop disable dispute downgrade download draft drop edit email enable escalate exchange export extend extract file fill fix
    forward format generate get give grant handle hire import improve increase install integrate invite invoice issue label launch
    list lock log lower make merge migrate modify notify open optimise optimize order organise organize pack parse patch pause pay plan
    post prepare print process produce publish pull purchase push raise reactivate rebook record recover reduce refactor refill refund
    register reimburse release remove rename renew rent repair replace request reschedule reserve reset resolve restart restore
    restrict retrieve return rewrite rotate run scan schedule sell send set ship sign solve sort speed split start stop store submit
    subscribe summarise summarize swap switch sync take test track train transfer transcribe translate troubleshoot turn unblock
    uninstall unlock unsubscribe update upgrade upload validate verify waive withdraw write"""
)
_WEAK = _words(
    """answer ask check choose confirm discuss double-check explain figure find help identify inquire investigate keep know learn look
    move pick proceed read recommend report review search see show suggest tell understand use view watch"""
)
_NOT_ALONE = frozenset(_words("proceed know see tell help keep show use ask take give learn understand watch back make"))
"""Verbs that say little: taken only where nothing better was said."""


def _ing(verb: str) -> set[str]:
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith("ee") else verb
    return {stem + "ing", *({verb + verb[-1] + "ing"} if re.search(r"[aeiou][bdglmnprt]$", verb) else ())}


_GERUNDS = {form: verb for verb in (*_STRONG, *_WEAK) for form in _ing(verb)}
_VERB = "|".join(sorted((*_STRONG, *_WEAK), key=len, reverse=True))
_GERUND = "|".join(sorted(_GERUNDS, key=len, reverse=True))

_GREETING = lazy_re(
    r"(?i)^(?:(?:hi|hello|hey|bonjour|greetings|good (?:morning|afternoon|evening)|sure|certainly|of course|yes|no|ok(?:ay)?|alright"
    r"|thanks?(?: you)?(?: so much)?|well|so|actually|great|also|and|then|now|next|oh|please|kindly|quick question"
    r"|no problem)(?: there| everyone| team| again| then)?\b[-!,.:;\s]*)+"
)
_ASKED = lazy_re(
    rf"(?i)(?:^|\b(?:to|you|please|let'?s|me|can (?:i|we)|could (?:i|we)|should (?:i|we)|do (?:i|we)|may (?:i|we)|possible to|then|just"
    rf"|kindly)\s+)(?:(?:please|also|just|then|possibly|kindly|perhaps|go ahead and)\s+)*(?P<verb>{_VERB})\b(?!-)(?P<rest>.*)"
)
COORDINATE = lazy_re(
    rf"(?i),?\s+(?:and(?: then| also)?|then)\s+(?:please\s+|also\s+)*(?=(?:{'|'.join(_STRONG)})\s+"
    r"(?:(?:me|us|them|him|her)\s+)?(?:the|my|our|an?|all|both|it)\b)"
)
"""Where a second request begins in one sentence: "… and refund the deposit"."""
_ASKED_ING = lazy_re(rf"(?i)\b(?:with|in|about|of|by|for|on)\s+(?P<verb>{_GERUND})\b(?P<rest>.*)")
_CHANGES_TO = lazy_re(
    r"(?i)^(?:make|making) (?:some |a few |a couple of |several |a |any )?(?:changes?|modifications?|adjustments?)"
    r" (?:to|in|on) (?P<rest>.*)"
)
_NOUN_LEAD = lazy_re(
    r"(?i)\b(?:looking|hoping|asking|hope) for\s+(?P<get>.+)"
    r"|\b(?:i|we)(?:'d| would)? (?:really |also |just )?(?:need|want|like)\s+(?P<get2>(?:an?|some|the|my|our|another)\s.+)"
    r"|\b(?:help|assistance|question|issue|problem|trouble|info(?:rmation)?)s? (?:with|about|regarding|on|concerning)\s+(?P<about>.+)"
    r"|\b(?:calling|writing|reaching out|asking|inquiring|concerned|ask|inquire) about\s+(?P<about2>.+)"
    r"|\bwhat(?:'s| is| are) (?P<about3>the .+)"
)
_HELP = lazy_re(r"(?i)\b(?:help|assistance|question|issue|problem|trouble)s? (?:with|about|regarding|on|concerning)\s+(?P<rest>.+)")
_HOW_MANY = lazy_re(r"(?i)\bhow many (?:more |total |checked )?(?P<thing>(?!of\b|times\b|more\b)[a-z]+s)\b")
_LITERAL = lazy_re(
    r"(?i)(?P<link>(?:\s(?:of|for|under|with|to|from|in|by|on|and|named|called|is|are))*)(?:\s(?:the|my|our))?"
    r"(?:\s(?:user|customer|employee))?"
    r"(?P<noun>\s(?:order|reservation|booking|flight|ticket|invoice|case|account|project)s?)?(?:\s(?:ids?|numbers?|codes?|no\.?))*"
    r"\s*[\"']?…[\"']?(?:,? (?:and|or)\s*…)*"
)
"""What stands for one case, with the words that lead to it."""
_TROUBLE = Cue(
    r"\b(?:my|our|the) (?P<thing>(?:(?!(?:has|have|is|are|was|were|got|keeps?|i|that|of|it)\b)[a-z-]+\s?){1,3})(?<=\s)"
    r"(?:from [A-Za-z]+ to [A-Za-z]+ )?"
    r"(?:(?:has|have) )?(?:been|was|were|is|are|got|keeps?)(?: \w+ly| just| always)?"
    r" (?P<state>delayed|cancell?ed|broken|lost|damaged|missing|late|blocked|locked|failing|crashing|slow|stuck)\b"
)
_NEGATED = lazy_re(r"(?i)(?:\bnot\b|n't\b|\bnever\b|\bcannot\b|\bunable\b|\bno (?:need|way)\b)[^,.;]{0,14}$")
_ENDING = "|".join(
    _words(
        """that that's which who whose where when while because since due so but if unless whether how what why i i'm i've i'd you we they
        he she it's user's using named called titled scheduled booked purchased made instead please right immediately asap somehow
        similar today tomorrow now again once without first myself back over regardless except just later earlier even preferably
        possibly though too also is are was were has have had can could will would should does do"""
    )
)
_STOP = lazy_re(rf"[,.;:!?()\[\]\"“”—–|]|\s-\s|(?i:\b(?:the user|as soon|up to|{_ENDING})\b)")
"""Where the object of a request ends: at a mark, or at a word that begins another thought."""
_LINKS = (
    r"from|to|for|on|at|in|into|onto|under|with|by|via|between|before|after|until|till|through|during|about|per|as|than|and|or|within"
    r"|towards?"
)
_CHUNKS = lazy_re(rf"(?i)\s+(?=(?:{_LINKS})\b)")
_PARTICULAR = lazy_re(r"…|\d|\b[A-Z][\w'-]*")
_NO_CORE = lazy_re(
    r"(?i)\b(?:it|them|this|these|those|me|us|him|her|mine|yours|there|here|something|anything|everything|things?|stuff|one|ones|way"
    r"|option|options|bit)\b"
)
_TIME = lazy_re(
    r"(?i)\b(?:day|days|date|dates|morning|afternoon|evening|night|week|weekend|month|year|hours?|minutes?|time|moment|reasons?"
    r"|case|future)\b"
)
_FILLING = lazy_re(
    r"(?i)\b(?:either|upcoming|recent|most recent|current|existing|own|entire|whole|particular|certain|really|actually|just|very"
    r"|some more"
    r"|attached|simply|quickly|kindly|please|urgently|latest|a little|specific|possible)\s+"
)
_OWNER = lazy_re(r"(?i)\b(?:my|our|your|his|her|their)\b")


@remembered(512)  # several readers of an episode ask for the same sentences
def request_of(sentence: str) -> Request | None:
    """Return what a sentence asks for, or None. `sentence` has its personal spans replaced by `…`."""
    text = sentence.replace("’", "'").strip()
    if "…" in text:
        text = re.sub(r"\s*…\s*(?=$|[.,;:!?])", "", _LITERAL.sub(_general, text))
    text = _GREETING.sub("", text).strip()
    found = [request for request in (_by_verb(text), _by_gerund(text), _by_noun(text)) if request]
    return max(found, key=lambda request: request.weight) if found else None


def _general(match: re.Match[str]) -> str:
    """One case told as its sort: `for reservation …` → `for the reservation`; `my delayed flight …` → `my delayed flight`."""
    if not match["noun"]:
        return " … "
    before = match.string[: match.start()].split()[-1:]
    opens = match["link"] or not before or before[0].lower() in (*_STRONG, *_WEAK) or re.search(r"(?i)\b(?:the|my|our)\b", match[0])
    return f"{match['link']}{' the' if opens else ''}{match['noun']} "


def _by_verb(text: str) -> Request | None:
    best: Request | None = None
    start = 0
    for _ in range(6):
        match = _ASKED.search(text, start)
        if not match:
            break
        start = match.start("verb")
        if start and _NEGATED.search(text[: match.start()]):
            continue
        request = _made(match["verb"].lower(), match["rest"])
        if request and (best is None or request.weight > best.weight):
            best = request
    return best


def _by_gerund(text: str) -> Request | None:
    match = _ASKED_ING.search(text)
    return _made(_GERUNDS[match["verb"].lower()], match["rest"]) if match else None


def _by_noun(text: str) -> Request | None:
    if match := _NOUN_LEAD.search(text):
        get, about = match["get"] or match["get2"], match["about"] or match["about2"] or match["about3"]
        if get and not re.match(r"(?i)(?:an? |the |some |any )*(?:help|assistance|support|you|way|look|question|issue|problem)s?\b", get):
            request = _made("get", re.sub(r"(?i)^(?:some )?(?:kind|sort) of ", "", get))
            return request._replace(weight=2.5) if request else None
        about = about or next((m["rest"] for m in [_HELP.search(text)] if m), "")
        core = _object(about)
        if core[0]:
            return Request(core[0], core[1], "about", 1.5)
    if match := _HOW_MANY.search(text):
        return Request(f"the number of {match['thing'].lower()}", f"the number of {match['thing'].lower()}", "about", 1.8)
    if match := _TROUBLE.search(text):
        thing = _FILLING.sub("", f"{match['thing'].strip()} ").strip().lower()
        phrase = f"the {match['state'].lower()} {thing}"
        return Request(phrase, phrase, "about", 1.2) if len(phrase) <= MAX_CHARS and not _NO_CORE.search(phrase) else None
    return None


def _made(verb: str, rest: str) -> Request | None:
    """A request of verb and what follows it, where that is an object that says something."""
    rest = re.sub(r"(?i)^\s+(?:me|us)\s+(?=the\b|an?\b|my\b|our\b|some\b|all\b)", " ", rest)
    asked = re.match(r"(?i)\s+(?:me |us |out )?(?P<clause>(?:where|why|how|what|whether|which|who)\s[^.,;!?…]{4,40})", rest)
    if asked and verb in _WEAK and not re.search(r"(?i)\b(?:i|my|we|our|you|it|this|that|can|could|going on)\b", asked["clause"]):
        phrase = f"{verb} {asked['clause'].strip()}"
        if len(phrase) <= MAX_CHARS and len(asked[0]) + 1 >= len(rest.rstrip(".!? ")):
            return Request(phrase, phrase, "to", 2.5)
    if changes := _CHANGES_TO.match(f"{verb}{rest}"):
        verb, rest = "change", f" {changes['rest']}"
    particle = re.match(r"(?i)\s+(?:up|out|off|back|down|over|in|on|through|with|for|to|into|about|at)\b(?!\s*[,.;!?]|$)", rest)
    if particle and not re.match(r"(?i)\s+(?:from|at|on)\b", particle[0]):
        verb, rest = f"{verb} {particle[0].strip().lower()}", rest[particle.end() :]
    core, specific = _object(rest, room=len(verb) + 1)
    if not core:
        return None
    plain = verb.split()[0]
    weight = (1.0 if plain in _NOT_ALONE else 2.2 if plain in _WEAK else 3.2) + 0.25 * min(len(core.split()), 4)
    return Request(f"{verb} {core}", f"{verb} {specific}", "to", weight)


def _object(rest: str, *, room: int = 0) -> tuple[str, str]:
    """The object in general words and in specific ones; empty where it only points elsewhere."""
    end = _STOP.search(rest)
    text = " ".join(rest[: end.start() if end else len(rest)].split())
    text = _OWNER.sub("the", _FILLING.sub("", f"{text} ")).strip()
    text = re.sub(r"(?i)^(?:all of)\s+(?=the\b)", "all ", text).strip(" -'*_#`")
    text = re.sub(r"\ban (?=[^aeiouAEIOU])", "a ", text)
    chunks = _CHUNKS.split(text)
    core = _PLACE_CODE.sub("", chunks[0]).strip() if chunks else ""
    if not re.search(r"[A-Za-z]{3,}", core) or "…" in core or re.match(rf"(?i)(?:{_LINKS})\b", core):
        return "", ""
    said = [w for w in re.findall(r"[a-z0-9]+", core.lower()) if w not in _BARE]
    if not said or (_NO_CORE.search(core) and len(said) < 2) or re.match(r"(?i)(?:it|them|this|these|those|me|us|you)\b", core):
        return "", ""
    core = re.sub(r"\s+\d+$|^\d+\s+", "", core)
    if room + len(core) > MAX_CHARS:
        short = core[: max(0, MAX_CHARS - room)].rsplit(" of ", 1)
        words = short[0].split() if len(short) > 1 else core.split()
        while words and room + len(" ".join(words)) > MAX_CHARS:
            words.pop()
        core = " ".join(words)
        chunks = chunks[:1]
    specific = core
    extended, fits = False, True
    for part in chunks[1:]:
        chunk = _OPEN_END.sub("", part)
        if _UNDER_IT.fullmatch(chunk):
            continue
        if "…" in chunk or _NO_CORE.search(chunk) or len(chunk.split()) < 2:
            break
        joins = re.match(r"(?i)and\s+(?P<verb>\S+)(?P<more>.*)|or\b", chunk)
        if joins and (not joins["verb"] or (joins["verb"].lower() in (*_STRONG, *_WEAK) and len(joins["more"].split()) < 2)):
            break
        fits = fits and room + len(specific) + len(chunk) < MAX_SPECIFIC_CHARS
        if fits and (_PARTICULAR.search(chunk) or not _TIME.search(chunk)):
            specific += f" {chunk}"
        clean = not _PARTICULAR.search(chunk) and not _TIME.search(chunk)
        if clean and not extended and room + len(core) + 1 + len(chunk) <= MAX_CHARS:
            core, extended = f"{core} {chunk}", True
    return _OPEN_END.sub("", core).strip(), _OPEN_END.sub("", specific).strip()


_OPEN_END = lazy_re(r"(?i)(?:\s+(?:the|a|an|of|and|or|to|for))+$")
_UNDER_IT = lazy_re(r"(?i)(?:under|for|in|on|with|by|of) the (?:reservation|order|booking|case|account|ticket|invoice)s?")
_PLACE_CODE = lazy_re(r"\b[A-Z]{3}\b(?=\s+(?:to|flight|and)\b)")
_BARE = frozenset(_words("the a an all any some of more two three one couple few other another to and forward ahead sure"))
