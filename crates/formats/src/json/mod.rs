//! JSON in two ways. Formats that are written back keep values as the bytes that they were recorded in, and decode only
//! the parts that are needed: [`Object`]. Readers of other recordings work on parsed values: [`value`].

pub(crate) mod value;

pub(crate) use epitome_wire::json::*;
