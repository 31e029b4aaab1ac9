//! The lists of words of this strategy, which are data.

use epitome_strategy::WordLists;

/// What tools call their arguments, and print beside their results.
pub(crate) static LISTS: WordLists = WordLists::new(include_str!("lists.txt"));
