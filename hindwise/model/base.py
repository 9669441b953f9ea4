"""The ground all models stand on: frozen, unknown fields refused, lists bounded by their field."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A value: frozen, compared by content; unknown fields are an error, not a surprise."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_bytes="base64")
