"""Every setting, with a default that serves one person on a laptop. `hindwise doctor` prints them with their source.

Prefix `HINDWISE_`, one `.env`. `LLM_*` and `EMBEDDING_*` are understood without prefix.
"""

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from hindwise.safety.contacts import Contacts


def _plain(name: str) -> AliasChoices:
    return AliasChoices(f"HINDWISE_{name}", name)


class Settings(BaseSettings):
    """All settings. Units stand in the names."""

    model_config = SettingsConfigDict(env_prefix="HINDWISE_", env_file=".env", extra="ignore", populate_by_name=True, frozen=True)

    data: Path = Path(".hindwise")
    """Directory of everything that is kept: ledger, index, keys, Temporal's file, logs."""
    database_url: SecretStr = SecretStr("")
    """Empty = SQLite in the data directory. postgresql+psycopg://user:password@host/database for several machines."""
    database_pool_size: int = Field(default=12, ge=2, le=200)
    """Connections to Postgres that one process may hold; half of them write."""
    database_connect_timeout_s: float = Field(default=5.0, ge=1, le=60)
    """How long to wait for a Postgres that does not answer a new connection."""
    database_lock_timeout_s: float = Field(default=10.0, gt=0, le=30)
    """How long a statement waits for a row on Postgres before the work is tried again later."""
    database_statement_timeout_s: float = Field(default=20.0, gt=0, le=30)
    """How long one statement may run on Postgres."""
    index: Literal["embedded", "weaviate"] = "embedded"
    """Which index serves recall: a file in the data directory, or a Weaviate server."""
    weaviate_url: str = Field(default="", validation_alias=_plain("WEAVIATE_URL"))
    """REST address of the Weaviate server, http://host:port."""
    weaviate_grpc_url: str = Field(default="", validation_alias=_plain("WEAVIATE_GRPC_URL"))
    """Its gRPC address, http://host:port."""
    weaviate_api_key: SecretStr = Field(default=SecretStr(""), validation_alias=_plain("WEAVIATE_API_KEY"))
    """Its API key. There is no way without one: the gRPC port listens on every network."""
    weaviate_idle_days: int = Field(default=30, ge=1)
    """A space without recall or write for so many days is set INACTIVE; the next recall there answers degraded and wakes it."""
    index_timeout_s: float = Field(default=1.0, gt=0, le=30, allow_inf_nan=False)
    """How long a recall waits for Weaviate; after it the ledger answers."""
    tenant: str = Field(default="default", pattern=r"^[^\x00-\x1f]{1,200}$")
    """Whose installation this is: the customer that owns keys made here."""
    secret_key: SecretStr = SecretStr("")
    """Keys the hashes that stand for callers' ids in Temporal. Empty = one is made in the data directory."""

    host: str = "127.0.0.1"
    """Address the API listens on; beyond loopback keys must stay on."""
    port: int = Field(default=8080, ge=0, le=65535)
    """Port of the API; 0 = any free one. Left alone and in use, `hindwise up` takes a free one."""
    api_url: str = ""
    """Where the CLI finds a running API; empty = what the data directory says, else whatever answers at HINDWISE_HOST and HINDWISE_PORT."""
    api_key: SecretStr = SecretStr("")
    """Key that the CLI shows; empty = the one in the data directory, to the API that runs there."""
    auth: bool = True
    """False only with a loopback host."""
    rate_limit_per_minute: int = Field(default=6_000, ge=1)
    """Requests per key."""
    max_request_bytes: int = Field(default=5 * 1024 * 1024, ge=1024)
    """Larger requests get 413."""

    temporal_address: str = Field(default="", pattern=r"^$|^[^\s:/]+:\d{1,5}$|^\[[0-9A-Fa-f:.]+\]:\d{1,5}$")
    """Empty = the dev server that `hindwise up` starts."""
    temporal_namespace: str = Field(default="hindwise", pattern=r"^[!-~]{1,1000}$")
    """In plain ASCII; the dev server of `hindwise up` has it, elsewhere `hindwise setup-temporal --create-namespace` makes one."""
    temporal_api_key: SecretStr = SecretStr("")
    """Key of a Temporal that wants one, such as Temporal Cloud; switches TLS on."""
    temporal_tls: Literal["auto", "on", "off"] = "auto"
    """auto = on with an API key or with any of the TLS settings below."""
    temporal_tls_ca_file: str = ""
    """PEM of the authority that signed the server's certificate; empty = those that this system trusts."""
    temporal_tls_cert_file: str = ""
    """PEM of our certificate, where the server wants one (mTLS)."""
    temporal_tls_key_file: str = ""
    """PEM of its private key."""
    temporal_tls_server_name: str = ""
    """Name in the server's certificate, where it differs from the address."""
    temporal_ui_url: str = ""
    """Where people look at workflows; empty = the one that `hindwise up` starts, if any."""
    task_queue_prefix: str = Field(default="hindwise", pattern=r"^\S{1,100}$")
    """Begins the names of all task queues: two installations in one namespace need two."""
    temporal_rpc_timeout_s: float = Field(default=3.0, gt=0, allow_inf_nan=False)
    """How long a call to Temporal may take before the sweep takes over."""

    session_idle_minutes: float = Field(default=30.0, gt=0, allow_inf_nan=False)
    """A session without a turn for so long is closed and reflected on."""
    live_capture: bool = True
    """What a user asks to remember in an open session is kept within seconds, not only when the task ends."""
    retain_turns_days: int = Field(default=30, ge=1)
    """Turns of closed episodes are purged after this many days, unless an open reflection needs them."""
    mask_phones: bool = True
    """Telephone numbers are masked like secrets before anything is stored or sent. False: they are kept, and may be remembered."""
    mask_emails: bool = False
    """The same for e-mail addresses. Either holds for what comes from then on: what is stored stays as it is."""
    sweep_interval_s: float = Field(default=5.0, gt=0, le=3_600, allow_inf_nan=False)
    """How often the API looks for accepted work that never reached Temporal."""
    upkeep_every_minutes: float = Field(default=5.0, ge=0.1, le=525_600, allow_inf_nan=False)
    """How often upkeep looks for what is due."""

    reflector: Literal["auto", "rules", "llm"] = "auto"
    """auto = llm where LLM_MODEL is set, else rules."""
    lessons: Literal["agent", "user"] = "agent"
    """Where lessons of an episode with an agent_id are filed."""
    min_confidence: float = Field(default=0.4, ge=0, le=1, allow_inf_nan=False)
    """Below: pending."""
    llm_base_url: str = Field(default="", validation_alias=_plain("LLM_BASE_URL"))
    """Any OpenAI-compatible endpoint."""
    llm_api_key: SecretStr = Field(default=SecretStr(""), validation_alias=_plain("LLM_API_KEY"))
    """Its key."""
    llm_model: str = Field(default="", max_length=200, validation_alias=_plain("LLM_MODEL"))
    """The model that reflects; empty = rules alone."""
    llm_form: Literal["auto", "long", "short"] = "auto"
    """What the model fills in. short = one lesson in plain parts, for models under about 7 B; auto = long, and short where that fails."""
    llm_timeout_s: float = Field(default=60.0, gt=0, allow_inf_nan=False)
    """One question to the model; a local model on few cores may need minutes. HINDWISE_LLM_BUDGET_S bounds it too."""
    llm_budget_s: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    """How long one reflection keeps asking an endpoint that does not answer before rules stand in."""
    llm_daily_tokens: int = Field(default=0, ge=0)
    """Tokens that the model may cost each tenant in one day (UTC); beyond it rules reflect, marked `budget`. 0 = no ceiling."""
    llm_price_input: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Price of a million tokens that the model reads, in your currency. 0 = not known: then no cost is told."""
    llm_price_output: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Price of a million tokens that it writes."""
    llm_concurrency: int = Field(default=8, ge=1, le=200)
    """Questions that one worker has open at the model at a time."""
    llm_requests_per_minute: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Questions of all workers together in a minute, comparisons of the APIs among them; give every process the same. 0 = no limit."""

    embed: Literal["auto", "local", "openai", "none"] = "auto"
    """auto = openai where EMBEDDING_MODEL is set, else local where the wheel is there, else none."""
    embedding_base_url: str = Field(default="", validation_alias=_plain("EMBEDDING_BASE_URL"))
    """Any OpenAI-compatible endpoint for embeddings, independent of LLM_BASE_URL."""
    embedding_api_key: SecretStr = Field(default=SecretStr(""), validation_alias=_plain("EMBEDDING_API_KEY"))
    """Its key."""
    embedding_model: str = Field(default="", validation_alias=_plain("EMBEDDING_MODEL"))
    """The embedding model; once set, its endpoint must answer: there is no silent fall back to other vectors."""
    embedding_timeout_s: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    """One request for embeddings; recall goes on by words alone after it."""

    relevance_gate: float = Field(default=0.35, ge=0, le=1, allow_inf_nan=False)
    """What is less relevant than this is not told. 0 = everything."""
    half_life_days_episodic: float = Field(default=30.0, gt=0, allow_inf_nan=False)
    """After so many days an event or snippet counts half."""
    half_life_days_lesson: float = Field(default=90.0, gt=0, allow_inf_nan=False)
    """After so many days an unused lesson counts half; doubled with each confirmed use."""
    expire_days_episodic: int = Field(default=30, ge=1)
    """Events and snippets expire after so many days."""
    expire_days_semantic: int = Field(default=365, ge=1)
    """Facts, preferences and instructions expire after so many days unless confirmed again."""
    archive_after_days: int = Field(default=180, ge=1)
    """What was not recalled for so long leaves the index; it can be restored."""
    review_after_days: int = Field(default=90, ge=1)
    """After so many days a memory is looked at again."""
    index_cache_mb: int = Field(default=256, ge=8)
    """Memory for the index of recently used spaces."""
    reindex_share: float = Field(default=0.5, ge=0.05, le=1, allow_inf_nan=False)
    """Share of its time that the build of a new index works; the rest is left to recalls and reflections."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """debug also shows tracebacks on the command line."""

    def contacts(self) -> Contacts:
        """Which ways to reach somebody are masked before anything is stored or sent."""
        return Contacts(phones=self.mask_phones, emails=self.mask_emails)

    def ledger_url(self) -> str:
        """The ledger's SQLAlchemy URL."""
        return self.database_url.get_secret_value() or f"sqlite:///{(self.data / 'ledger.db').resolve()}"
