#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn summaries_share_the_room() {
    let check = |sizes: &[Tokens], room, expect: &[Tokens]| assert_eq!(allot(sizes, 50, 200, room), expect);
    check(&[1000, 1000], 100, &[50, 50]);
    check(&[1000, 3000], 300, &[100, 200]);
    check(&[1000, 3000], 10, &[50, 50]);
    check(&[120, 4000], 4000, &[60, 200]);
    check(&[], 100, &[]);
}
