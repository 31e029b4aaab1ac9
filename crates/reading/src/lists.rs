//! The lists of words of this strategy, which are data.

use epitome_strategy::WordLists;

/// What tools call their arguments, and print beside their results.
pub(crate) const LISTS: WordLists = WordLists(include_str!("lists.txt"));
