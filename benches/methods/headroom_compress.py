"""Headroom's `compress`, without its text model (`kompress_model="disabled"`), which has to be downloaded.

It takes no budget. `agent-90` is the profile that its documentation names for the highest savings with coding agents.
"""

from headroom import compress

from adapter import ChatMessage, run


def compact(messages: list[ChatMessage], _budget: int) -> list[ChatMessage]:
    return compress(messages, model="gpt-4o", savings_profile="agent-90", kompress_model="disabled").messages


if __name__ == "__main__":
    run(compact)
