"""The calls of an episode, read once for all who look at it: the gate, the rules and the validators."""

from hindwise.model.episode import Episode
from hindwise.model.once import once_per_episode
from hindwise.reflect.transcript import Language, Step, language_of_episode, steps_of


@once_per_episode
def steps_in(episode: Episode) -> tuple[Step, ...]:
    """What `steps_of` returns for its turns."""
    return steps_of(episode.turns)


@once_per_episode
def language_in(episode: Episode) -> Language:
    """What `language_of_episode` returns."""
    return language_of_episode(episode)
