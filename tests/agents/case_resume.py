"""An agent resumed from its own session file after `epitome compact -o` on it, again and again.

What it sends is the compacted view, each message once, and the agent does not compact by itself although the last request
before the compaction was over its limit. It goes on, with two calls in one answer, appends, is resumed without a compaction,
compacted, resumed. The file is the same file all the time, begins with what was there, and holds the whole history.
"""

import received
from build import LINE, WORDS, compact, said_once, steps

AGENTS = ("claude", "codex", "pi")


def check(scene, kind):
    scene.turn(kind, "one", steps(range(1, 5), "Parts 1 to 4 are fine."), "Look at parts 1 to 4.", "1 to 4 are fine",
               resumed=False)
    # The last request before the compaction is over what the agent itself would compact at.
    scene.turn(kind, "two", steps([5, 6], "Parts 5 and 6 are fine.", usage=scene.agent.too_many),
               "Look at parts 5 and 6.", "5 and 6 are fine")
    file, answers = scene.agent.file(), ["Parts 1 to 4 are fine.", "Parts 5 and 6 are fine."]
    asked = ["Look at parts 1 to 4.", "Look at parts 5 and 6."]
    sizes = []
    for round in range(3):
        # The second leaves calls with shortened results, the others leave texts.
        before, after = compact(scene, file, "--chain", "tool-results", share=0.75) if round == 1 else compact(scene, file)
        sizes.append(f"{before:,} to {after:,}")
        for turn in range(2):
            part = 7 + 2 * round + turn
            prompt, answer = f"Look at part {part}.", f"Part {part} is fine."
            _, bodies = scene.turn(kind, f"part{part}", steps([[part, f"echo part {part} ends"]], answer), prompt, answer)
            first = received.conversation(bodies[0])
            assert "[Summary of" in first, "the agent did not send the compacted history"
            assert LINE not in first, "the agent sent what has left its context"
            for said in answers + asked + [prompt]:
                said_once(bodies[0], said)
            environments = sum("<environment_context>" in text for text in received.texts(bodies[0]))
            assert environments <= 1, f"the agent told of the machine {environments} times"
            for body in bodies:
                for calls, results in received.pairs(body):
                    assert sorted(calls) == sorted(results), (calls, results)
            if turn == 1:
                last = received.results_of(bodies[0], f"call_part{part - 1}_")
                assert f"src/part_{part - 1}/file_120.rs" in last[0], "the turn behind the compaction is gone"
                assert f"part {part - 1} ends" in last[1], "of two calls in one answer one has no result"
            answers.append(answer)
            asked.append(prompt)
    found = scene.command("search", file, WORDS, "--source", "tool")
    assert LINE in found, "the file does not hold the whole history"
    return "three compactions in place, each resumed twice: " + ", ".join(sizes) + " tokens"
