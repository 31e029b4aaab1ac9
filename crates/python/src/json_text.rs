//! Python objects as JSON text, in one walk: a list of dictionaries becomes what the readers of formats take.

use std::borrow::Cow;

use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// How deep values may be nested. Source: the limit of the JSON reader behind.
const MOST_DEPTH: usize = 120;

/// Why an object is not JSON, with the way to it, its last step first.
struct UnsupportedValue {
    path: Vec<String>,
    problem: String,
}

impl UnsupportedValue {
    fn new(problem: impl Into<String>) -> Self {
        Self { path: Vec::new(), problem: problem.into() }
    }

    fn under(mut self, step: impl FnOnce() -> String) -> Self {
        self.path.push(step());
        self
    }

    fn error(self, root: &str) -> PyErr {
        let path: String = self.path.into_iter().rev().collect();
        let place = format!("{root}{path}");
        PyTypeError::new_err(format!("{}: {}", place.trim_start_matches('.'), self.problem))
    }
}

impl From<PyErr> for UnsupportedValue {
    fn from(error: PyErr) -> Self {
        Self::new(error.to_string())
    }
}

/// The JSON text of `value`, which errors call `root`. Objects with a method `model_dump`, as the providers' own clients
/// give them, are written as what that gives. Linear in the value.
///
/// Errors (`TypeError`) name the path of the field: another type, a key that is not text, a number that JSON does not
/// have, more than 120 levels.
pub(crate) fn text_of(value: &Bound<'_, PyAny>, root: &str) -> PyResult<Vec<u8>> {
    let mut out = Vec::with_capacity(4_096);
    write(value, &mut out, 0).map_err(|unsupported| unsupported.error(root))?;
    Ok(out)
}

fn write(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> Result<(), UnsupportedValue> {
    if depth > MOST_DEPTH {
        return Err(UnsupportedValue::new(format!("nested deeper than {MOST_DEPTH} levels, or within itself")));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return write_text(text, out);
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        return write_entries(entries.iter(), out, depth);
    }
    if let Ok(items) = value.cast::<PyList>() {
        return write_items(items.iter(), out, depth);
    }
    if let Ok(items) = value.cast::<PyTuple>() {
        return write_items(items.iter(), out, depth);
    }
    if value.is_none() {
        out.extend_from_slice(b"null");
    } else if let Ok(flag) = value.cast::<PyBool>() {
        out.extend_from_slice(if flag.is_true() { b"true" } else { b"false" });
    } else if value.is_instance_of::<PyInt>() {
        // Of any size: JSON has no bound, and `__int__` leaves the names of enumerations out.
        let digits = value.call_method0(intern!(value.py(), "__int__"))?.str()?;
        out.extend_from_slice(digits.to_str()?.as_bytes());
    } else if let Ok(number) = value.cast::<PyFloat>() {
        let number = number.value();
        if !number.is_finite() {
            return Err(UnsupportedValue::new(format!(
                "{number} is not a number of JSON; leave it out, or write it as text"
            )));
        }
        serde_json::to_writer(out, &number).map_err(|error| UnsupportedValue::new(error.to_string()))?;
    } else {
        return write_object(value, out, depth);
    }
    Ok(())
}

/// What is none of the plain types: an object of a provider's client, or another mapping.
fn write_object(value: &Bound<'_, PyAny>, out: &mut Vec<u8>, depth: usize) -> Result<(), UnsupportedValue> {
    let py = value.py();
    if let Some(dump) = value.getattr_opt(intern!(py, "model_dump"))?.filter(|dump| dump.is_callable()) {
        // As the clients of OpenAI and Anthropic write such objects into their requests.
        let how = PyDict::new(py);
        how.set_item("mode", "json")?;
        how.set_item("exclude_unset", true)?;
        return write(&dump.call((), Some(&how))?, out, depth + 1);
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let copy = PyDict::new(py);
        copy.update(mapping)?;
        return write_entries(copy.iter(), out, depth);
    }
    let name = value.get_type().qualname()?;
    Err(UnsupportedValue::new(format!(
        "an object of the type `{name}` is not JSON; give dict, list, str, int, float, bool or None, or an object with \
         `model_dump()`"
    )))
}

fn write_entries<'py>(
    entries: impl Iterator<Item = (Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<(), UnsupportedValue> {
    out.push(b'{');
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let Ok(name) = key.cast::<PyString>() else {
            return Err(UnsupportedValue::new(format!("the key {} is not text", key.repr()?)));
        };
        write_text(name, out)?;
        out.push(b':');
        write(&value, out, depth + 1)
            .map_err(|unsupported| unsupported.under(|| format!(".{}", name.to_string_lossy())))?;
    }
    out.push(b'}');
    Ok(())
}

fn write_items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    out: &mut Vec<u8>,
    depth: usize,
) -> Result<(), UnsupportedValue> {
    out.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(&item, out, depth + 1).map_err(|unsupported| unsupported.under(|| format!("[{index}]")))?;
    }
    out.push(b']');
    Ok(())
}

fn write_text(text: &Bound<'_, PyString>, out: &mut Vec<u8>) -> Result<(), UnsupportedValue> {
    serde_json::to_writer(out, &*whole_text(text)?).map_err(|error| UnsupportedValue::new(error.to_string()))
}

/// A text with U+FFFD for each half of a surrogate pair, as the readers of files take such halves: listings of files and texts
/// that were cut by UTF-16 units have them, and they are no Unicode. Two halves that belong together are their character.
fn whole_text<'t>(text: &'t Bound<'_, PyString>) -> PyResult<Cow<'t, str>> {
    if let Ok(text) = text.to_str() {
        return Ok(Cow::Borrowed(text));
    }
    let bytes = text.call_method1(intern!(text.py(), "encode"), ("utf-16-le", "surrogatepass"))?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    Ok(Cow::Owned(String::from_utf16_lossy(&units)))
}

/// A text of a conversation that a call is given, whole ([`whole_text`]).
#[derive(Debug, Clone)]
pub(crate) struct WholeText(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for WholeText {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(whole_text(&*given.cast::<PyString>()?)?.into_owned()))
    }
}

/// The options of a call, a dictionary, as JSON text; its errors name the options. An option that is `None` is not there. Names are
/// written as the calls have them: `memory_bytes` is `memoryBytes`.
#[derive(Debug)]
pub(crate) struct Json(pub(crate) String);

impl<'py> FromPyObject<'_, 'py> for Json {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let options = PyDict::new(given.py());
        for (name, value) in given.cast::<PyDict>()?.iter().filter(|(_, value)| !value.is_none()) {
            options.set_item(camel_case(&name.extract::<String>()?), value)?;
        }
        Ok(Self(String::from_utf8_lossy(&text_of(&options, "")?).into_owned()))
    }
}

fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        name + &initial.to_uppercase() + rest
    })
}

/// Returns the error of an option with the names of options as Python has them.
pub(crate) fn in_snake_case(problem: &str) -> String {
    // What was given is not spelt anew.
    let (takes, given) = problem.rsplit_once(", not ").unwrap_or((problem, ""));
    if given.is_empty() || !takes.contains("` takes ") {
        return problem.to_owned();
    }
    let spelt = |(at, part): (usize, &str)| match at % 2 {
        1 => part.chars().fold(String::new(), |name, char| match char {
            'A'..='Z' => format!("{name}_{}", char.to_ascii_lowercase()),
            char => name + char.encode_utf8(&mut [0; 4]),
        }),
        _ => part.to_owned(),
    };
    let takes: Vec<String> = takes.split('`').enumerate().map(spelt).collect();
    format!("{}, not {given}", takes.join("`"))
}
