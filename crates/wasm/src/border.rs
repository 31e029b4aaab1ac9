//! What JavaScript calls: memory to write into, memory given back, one call.
//!
//! Text and bytes cross as blocks of memory that one side writes whole before the other reads it, and that have one owner at
//! any time. A block that was handed over with its address and length is taken back with the same two.

#![allow(unsafe_code)] // addresses from outside: the host keeps to the rules of each function below

use std::sync::LazyLock;

use epitome_binding::{Dispatcher, Reply};

static CALLS: LazyLock<Dispatcher> = LazyLock::new(Dispatcher::default);

/// The bytes before the texts of an answer: whether it is a failure, whether it has bytes, and two lengths.
const HEAD: usize = 12;

/// A block of `length` bytes for the host to write into; [`epitome_call`] or [`epitome_free`] takes it back.
#[unsafe(no_mangle)]
extern "C" fn epitome_alloc(length: usize) -> *mut u8 {
    hand_over(vec![0; length])
}

/// Takes a block back.
///
/// # Safety
///
/// `block` and `length` are those of a block that the host holds, and it uses it no more.
#[unsafe(no_mangle)]
unsafe extern "C" fn epitome_free(block: *mut u8, length: usize) {
    // SAFETY: as above.
    drop(unsafe { take_back(block, length) });
}

/// Carries out a call. Takes the blocks of its name, words and data back, and hands over the answer:
///
/// | bytes | |
/// |---|---|
/// | 0 | 1 where it is a failure |
/// | 1 | 1 where there are bytes |
/// | 4..8 | length of the JSON, little-endian |
/// | 8..12 | length of the bytes |
/// | 12.. | the JSON, the bytes |
///
/// # Safety
///
/// Each pair is a block that the host holds, wrote whole, and uses no more.
#[unsafe(no_mangle)]
unsafe extern "C" fn epitome_call(
    name: *mut u8,
    name_length: usize,
    words: *mut u8,
    words_length: usize,
    data: *mut u8,
    data_length: usize,
) -> *mut u8 {
    // SAFETY: as above.
    let (name, words, data) =
        unsafe { (take_back(name, name_length), take_back(words, words_length), take_back(data, data_length)) };
    let answer = CALLS.call(&String::from_utf8_lossy(&name), &String::from_utf8_lossy(&words), data);
    hand_over(block_of(&answer))
}

fn block_of(answer: &Reply) -> Vec<u8> {
    let bytes = answer.bytes.as_deref();
    let (json, rest) = (answer.json.as_bytes(), bytes.unwrap_or_default());
    let mut block = Vec::with_capacity(HEAD + json.len() + rest.len());
    block.extend([u8::from(answer.is_failure), u8::from(bytes.is_some()), 0, 0]);
    // A memory of 32 bits holds no longer ones.
    block.extend((json.len() as u32).to_le_bytes());
    block.extend((rest.len() as u32).to_le_bytes());
    block.extend_from_slice(json);
    block.extend_from_slice(rest);
    block
}

/// The address of a block that the host holds from here on.
fn hand_over(block: Vec<u8>) -> *mut u8 {
    Box::into_raw(block.into_boxed_slice()).cast()
}

/// A block that the host held.
///
/// # Safety
///
/// `block` and `length` are those of a block that was handed over and not taken back since.
unsafe fn take_back(block: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: as above; a boxed slice is an address and a length.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(block, length)) }.into_vec()
}
