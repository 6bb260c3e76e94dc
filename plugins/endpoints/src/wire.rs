//! The shape of an OpenAI response event, read leniently: a field whose value has another type than expected counts as
//! absent, so that one odd field of one vendor never costs the rest of the event. Only what is needed is kept, borrowed.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::usage::Reported;

/// A type that is read from one kind of JSON value and absent for the others.
pub(crate) trait Lenient<'de>: Default {
    /// From a string.
    fn from_text(_: Cow<'de, str>) -> Self {
        Self::default()
    }
    /// From an integer that is not negative.
    fn from_count(_: u64) -> Self {
        Self::default()
    }
    /// From another number.
    fn from_number(_: f64) -> Self {
        Self::default()
    }
    /// From an array; must read it to its end.
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
    /// From an object; must read it to its end.
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Reads a lenient type.
pub(crate) fn read<'de, T: Lenient<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Any<T>(PhantomData<T>);
    impl<'de, T: Lenient<'de>> Visitor<'de> for Any<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }
        fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
            Ok(T::from_number(number as f64))
        }
        fn visit_u64<E: Error>(self, count: u64) -> Result<T, E> {
            Ok(T::from_count(count))
        }
        fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
            Ok(T::from_number(number))
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from_text(Cow::Owned(text.to_owned())))
        }
        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<T, E> {
            Ok(T::from_text(Cow::Borrowed(text)))
        }
        fn visit_unit<E: Error>(self) -> Result<T, E> {
            Ok(T::default())
        }
        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
            T::from_list(list)
        }
        fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
            T::from_object(object)
        }
    }
    deserializer.deserialize_any(Any(PhantomData))
}

/// A string; empty when absent.
#[derive(Debug, Default)]
pub(crate) struct Text<'a>(Cow<'a, str>);

impl Text<'_> {
    /// The string.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Lenient<'de> for Text<'de> {
    fn from_text(text: Cow<'de, str>) -> Self {
        Self(text)
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

/// A count; a float without a fraction is one too.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl Lenient<'_> for Count {
    fn from_count(count: u64) -> Self {
        Self(Some(count))
    }
    fn from_number(number: f64) -> Self {
        // Beyond 2^53 a float does not name one integer.
        let whole = (0.0..=9_007_199_254_740_992.0).contains(&number) && number.fract() == 0.0;
        Self(whole.then_some(number as u64))
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

/// The first item of an array; the default of an empty one.
#[derive(Debug, Default)]
pub(crate) struct First<T>(pub(crate) T);

impl<'de, T: Default + Deserialize<'de>> Lenient<'de> for First<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let first = list.next_element()?.unwrap_or_default();
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(first))
    }
}

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

/// An array.
#[derive(Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Lenient<'de> for List<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Self(items))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

/// Declares an object by its keys. Other keys are skipped; of equal keys the last counts.
macro_rules! object {
    ($(
        $(#[$meta:meta])*
        struct $name:ident $(<$life:lifetime>)? { $( $(#[$field_meta:meta])* $key:literal => $field:ident: $ty:ty, )* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub(crate) struct $name $(<$life>)? { $( $(#[$field_meta])* pub(crate) $field: $ty, )* }

        impl<'de> $crate::wire::Lenient<'de> for $name $(<$life>)? {
            fn from_object<A: serde::de::MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
                let mut fields = Self::default();
                while let Some(key) = object.next_key::<$crate::wire::Text<'de>>()? {
                    match key.as_str() {
                        $( $key => fields.$field = object.next_value()?, )*
                        _ => {
                            object.next_value::<serde::de::IgnoredAny>()?;
                        }
                    }
                }
                Ok(fields)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name $(<$life>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire::read(deserializer)
            }
        }
    )*};
}
pub(crate) use object;

object! {
    /// An event of a stream, or a whole body.
    struct Event<'de> {
        /// What it is.
        "object" => object: Text<'de>,
        /// Only the first choice counts.
        "choices" => choice: First<Choice<'de>>,
        /// Token counts.
        "usage" => usage: Reported,
        /// An error in place of an answer.
        "error" => error: Option<&'de RawValue>,
        /// Numbers of the engine.
        "metrics" => metrics: Metrics<'de>,
    }

    /// One choice.
    struct Choice<'de> {
        /// Of a stream.
        "delta" => delta: Option<Box<Message<'de>>>,
        /// Of a whole body.
        "message" => message: Option<Box<Message<'de>>>,
        /// Of completions.
        "text" => text: Text<'de>,
        /// Why the model stopped.
        "finish_reason" => finish_reason: Text<'de>,
    }

    /// What was generated.
    struct Message<'de> {
        /// Output.
        "content" => content: Text<'de>,
        /// Reasoning as DeepSeek and vLLM name it.
        "reasoning_content" => reasoning_content: Text<'de>,
        /// Reasoning as others do.
        "reasoning" => reasoning: Text<'de>,
        /// Tool calls.
        "tool_calls" => tool_calls: List<ToolCall<'de>>,
        /// The only call of old servers.
        "function_call" => function_call: Function<'de>,
    }

    /// A tool call, or a piece of one.
    struct ToolCall<'de> {
        /// Tells calls of one message apart.
        "index" => index: Count,
        /// Identity for the answer of the tool.
        "id" => id: Text<'de>,
        /// `function`.
        "type" => kind: Text<'de>,
        /// What is called.
        "function" => function: Function<'de>,
    }

    /// What is called.
    struct Function<'de> {
        /// Name.
        "name" => name: Text<'de>,
        /// Arguments: a piece of a JSON text.
        "arguments" => arguments: Text<'de>,
    }

    /// Numbers of the engine.
    struct Metrics<'de> {
        /// vLLM: acceptance by position.
        "speculative_decoding" => speculative_decoding: Option<&'de RawValue>,
    }
}
