//! JSON text as Python objects, in one pass.

use std::fmt;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{IntoPyObject, IntoPyObjectExt};
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The object of a JSON text: dict, list, str, int, float, bool, None. Linear in the text.
pub(crate) fn object_of<'py>(py: Python<'py>, json: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let mut reader = serde_json::Deserializer::from_slice(json);
    let object = Seed(py).deserialize(&mut reader).and_then(|object| reader.end().map(|()| object));
    object.map_err(|error| PyValueError::new_err(format!("not JSON: {error}")))
}

/// The object of a value that is written as JSON.
pub(crate) fn object_from<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_vec(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    object_of(py, &json)
}

/// Builds one object.
#[derive(Clone, Copy)]
struct Seed<'py>(Python<'py>);

impl<'py> Seed<'py> {
    fn object<E: Error, T: IntoPyObject<'py>>(self, value: T) -> Result<Bound<'py, PyAny>, E> {
        value.into_bound_py_any(self.0).map_err(E::custom)
    }
}

impl<'de, 'py> DeserializeSeed<'de> for Seed<'py> {
    type Value = Bound<'py, PyAny>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'py> Visitor<'de> for Seed<'py> {
    type Value = Bound<'py, PyAny>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(self.0.None().into_bound(self.0))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        self.object(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        self.object(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        self.object(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        self.object(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        Ok(PyString::new(self.0, value).into_any())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let list = PyList::empty(self.0);
        while let Some(item) = items.next_element_seed(self)? {
            list.append(item).map_err(A::Error::custom)?;
        }
        Ok(list.into_any())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let dict = PyDict::new(self.0);
        while let Some(key) = entries.next_key::<std::borrow::Cow<'_, str>>()? {
            let key = PyString::intern(self.0, &key);
            dict.set_item(key, entries.next_value_seed(self)?).map_err(A::Error::custom)?;
        }
        Ok(dict.into_any())
    }
}
