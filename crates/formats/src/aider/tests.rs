use crate::tests::check;

#[test]
fn many_chats_in_one_file() {
    check(
        "-*- a heading of the editor -*-\n\
        # aider chat started at 1970-01-01 00:00:01\n\n\
        > Aider v0.1  \n> \n> Added a.py  \n\n\
        #### change it  \n#### \n#### twice  \n\n\
        Sure:\n\n```python\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n\n\
        > Applied edit to a.py  \n\n\
        #### /add b.py  \n> Added b.py\n#### /ask why?\n#### not a heading\nBecause.\n\
        #### # Fix any errors below, if possible.\n\
        # aider chat started at 1970-01-01 00:00:02\n\n\
        # aider chat started at never\n\
        ##### five marks are text\n>quoted\n",
        "aider
        = 0
        m0 assistant/model: -*- a heading of the editor -*-
        = 1
        m0 user/tool-output (aider) @1000: Aider v0.1↵↵Added a.py
        m1 user/typed: change it↵↵twice
        m2 assistant/model: Sure:↵↵```python↵<<<<<<< SEARCH↵a↵=======↵b↵>>>>>>> REPLACE↵```
        m3 user/tool-output (aider): Applied edit to a.py
        m4 user/injected: /add b.py
        m5 user/tool-output (aider): Added b.py
        m6 user/typed: /ask why?↵not a heading
        m7 assistant/model: Because.
        m8 user/injected: # Fix any errors below, if possible.
        = 2
        m0 assistant/model: ##### five marks are text↵>quoted",
    );
}

#[test]
fn nothing_said() {
    check(
        "# aider chat started at 2024-01-01 00:00:00\n\n",
        "aider
        error: not a valid aider session: no session in it holds a readable message",
    );
    check("#### a heading\n", "\nerror: this is not a session in a known format (no reader fits)");
}
