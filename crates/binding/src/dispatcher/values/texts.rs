//! Values of options that are one text or several.

use std::fmt::{self, Display, Formatter};
use std::marker::PhantomData;

use epitome::recall::Source;
use epitome::session::MessageRange;
use epitome::strategy::Named;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};

/// What is read of a text.
pub(crate) trait FromText: Sized {
    /// What an option takes that has one of them, or several.
    const ONE_OR_MORE: &'static str;

    /// Reads one.
    fn from_text(text: &str) -> Result<Self, impl Display>;
}

/// The name of a strategy, or of a chain.
#[derive(Debug, Clone)]
pub(crate) struct ChainName(pub(crate) String);

impl FromText for ChainName {
    const ONE_OR_MORE: &'static str = "the name of a chain or strategy, or a list of names";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        Ok::<_, String>(Self(text.to_owned()))
    }
}

impl FromText for MessageRange {
    const ONE_OR_MORE: &'static str = "messages by their numbers, such as `#37` or `#40-#52`, or a list of them";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        text.parse::<Self>()
    }
}

impl FromText for Source {
    const ONE_OR_MORE: &'static str = "one or more of user, assistant, tool, file";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        Self::from_name(text)
    }
}

/// Something to search for.
#[derive(Debug, Clone)]
pub(crate) struct SearchText(pub(crate) String);

impl FromText for SearchText {
    const ONE_OR_MORE: &'static str = "a text, or a list of texts";

    fn from_text(text: &str) -> Result<Self, impl Display> {
        Ok::<_, String>(Self(text.to_owned()))
    }
}

/// One text, or a list of them.
#[derive(Debug, Clone)]
pub(crate) struct OneOrMore<T>(pub(crate) Vec<T>);

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: FromText> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Texts<T>(PhantomData<T>);

        impl<'de, T: FromText> Visitor<'de> for Texts<T> {
            type Value = Vec<T>;

            fn expecting(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
                formatter.write_str(T::ONE_OR_MORE)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Vec<T>, E> {
                Ok(vec![T::from_text(text).map_err(E::custom)?])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
                let mut read = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    read.push(T::from_text(&text).map_err(A::Error::custom)?);
                }
                Ok(read)
            }
        }

        from.deserialize_any(Texts(PhantomData)).map(Self)
    }
}

/// A value by its name. The error of another name lists the names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByName<T>(pub(crate) T);

impl<'de, T: Named> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::from_name(&String::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

/// The name of a model, where there is one.
pub(crate) fn model_name<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let name = Option::<String>::deserialize(from)?;
    if name.as_deref() == Some("") {
        return Err(D::Error::invalid_value(Unexpected::Str(""), &"the name of a model"));
    }
    Ok(name)
}
