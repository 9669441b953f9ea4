"""What every message between client, workflow and activity is made of; the messages themselves stand in `contracts`."""

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """Base of all messages. Unknown fields are passed over, so an older worker can read a newer history."""

    model_config = ConfigDict(frozen=True, extra="ignore")
