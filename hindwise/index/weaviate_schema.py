"""The collection of one generation: a tenant per space, our own tokens to search by, one vector by name, and words for whoever looks in."""

from typing import Any

from weaviate.classes.config import Configure, DataType, Property, StopwordsPreset, Tokenization, VectorDistances
from weaviate.exceptions import UnexpectedStatusCodeError

from hindwise.errors import DimensionMismatch
from hindwise.index.space_image import K1, B
from hindwise.index.weaviate_client import Client

_NAMELESS = "default"
"""What the server calls the vectors of a collection that was made for words alone."""
_EXISTS = 422
_MISSING = 404


def vector_name(dim: int) -> str:
    """What the vectors of `dim` numbers are called."""
    return f"v{dim}"


async def is_there(client: Client, name: str, dim: int) -> bool:
    """Whether the collection exists. dim: length of its vectors, 0 = words alone.

    Raises DimensionMismatch where it was made for vectors of another length.
    """
    try:
        config = await client.collections.use(name).config.get()
    except UnexpectedStatusCodeError as error:
        if error.status_code != _MISSING:
            raise
        return False
    known = set(config.vector_config or {}) - {_NAMELESS}
    if known != ({vector_name(dim)} if dim else set()):
        raise DimensionMismatch(
            f"the collection {name} holds vectors {', '.join(sorted(known)) or 'of no length'}, the embedder gives {dim} numbers: "
            "restart, and a new index is built from the ledger"
        )
    return True


async def create(client: Client, name: str, dim: int) -> None:
    """Make the collection; one that another process made in the same moment is as good."""
    try:
        await client.collections.create(
            name,
            description="Memories of Hindwise, to be found again. The ledger has the last word; this can be rebuilt from it.",
            # A tenant that nobody asked for would bring back what was erased.
            multi_tenancy_config=Configure.multi_tenancy(enabled=True, auto_tenant_creation=False, auto_tenant_activation=False),
            vector_config=[_vectors(dim)] if dim else None,
            inverted_index_config=Configure.inverted_index(
                bm25_k1=K1,
                bm25_b=B,
                stopwords_preset=StopwordsPreset.NONE,
                index_timestamps=False,
                index_null_state=False,
                index_property_length=False,
            ),
            properties=_properties(),
        )
    except UnexpectedStatusCodeError as error:
        if error.status_code != _EXISTS or not await client.collections.exists(name):
            raise


def _vectors(dim: int) -> Any:
    return Configure.Vectors.self_provided(
        name=vector_name(dim),
        # Every question is filtered, and up to 40,000 memories a filter makes the server compare all of them anyway: a graph would
        # answer nothing sooner. It also costs 4 MB of disk a tenant at each restart, and a killed server can lose its last entries.
        vector_index_config=Configure.VectorIndex.flat(distance_metric=VectorDistances.COSINE),
    )


def _properties() -> list[Property]:
    """Five are indexed; each costs every tenant a bucket."""

    def text(name: str, tells: str, *, tokens: Tokenization = Tokenization.FIELD, find: bool = False, search: bool = False) -> Property:
        return Property(
            name=name, data_type=DataType.TEXT, description=tells, tokenization=tokens, index_filterable=find, index_searchable=search
        )

    return [
        text("memory_id", "The memory's id in the ledger.", find=True),
        text("kind", "fact, preference, instruction, event, lesson or snippet.", find=True),
        text("lex", "Our tokens, repeated as they occur.", tokens=Tokenization.WHITESPACE, search=True),
        text("conclusion", "What is remembered, as of the last write."),
        text("retrospective", "Why, as JSON."),
        Property(name="is_memory", data_type=DataType.BOOL, description="False for the one object that says when something was taken out."),
        Property(
            name="rev",
            data_type=DataType.INT,
            description="When this was written, in microseconds since 1970.",
            index_filterable=False,
            index_range_filters=True,
        ),
        Property(
            name="recorded_at_ms", data_type=DataType.INT, description="When it was learned, in ms since 1970.", index_filterable=False
        ),
    ]
