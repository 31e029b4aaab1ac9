//! dialogues
