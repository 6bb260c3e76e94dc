//! What the fields of an event are read as.

use std::borrow::Cow;

use crate::pull::{Lenient, Pull, Read};

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

/// The JSON text of a value that is not `null`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Raw<'a>(pub(crate) Option<&'a str>);

impl<'de> Lenient<'de> for Raw<'de> {
    fn from_value(json: &mut Pull<'de>) -> Read<Self> {
        let text = json.raw()?;
        Ok(Self((text != "null").then_some(text)))
    }
}

/// The first item of a list; the default of an empty one.
#[derive(Debug, Default)]
pub(crate) struct First<T>(pub(crate) T);

impl<'de, T: Lenient<'de>> Lenient<'de> for First<T> {
    fn from_list(json: &mut Pull<'de>) -> Read<Self> {
        let mut first = None;
        json.list(|json| {
            match first {
                None => first = Some(json.value()?),
                Some(_) => json.skip()?,
            }
            Ok(())
        })?;
        Ok(Self(first.unwrap_or_default()))
    }
}

/// A list.
#[derive(Debug)]
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Lenient<'de>> Lenient<'de> for List<T> {
    fn from_list(json: &mut Pull<'de>) -> Read<Self> {
        let mut items = Vec::new();
        json.list(|json| {
            items.push(json.value()?);
            Ok(())
        })?;
        Ok(Self(items))
    }
}

/// An object, if it is one.
impl<'de, T: Lenient<'de>> Lenient<'de> for Option<Box<T>> {
    fn from_object(json: &mut Pull<'de>) -> Read<Self> {
        T::from_object(json).map(Box::new).map(Some)
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

        impl<'de> $crate::pull::Lenient<'de> for $name $(<$life>)? {
            fn from_object(json: &mut $crate::pull::Pull<'de>) -> $crate::pull::Read<Self> {
                let mut fields = Self::default();
                json.object(|json, name| {
                    match name {
                        $( $key => fields.$field = json.value()?, )*
                        _ => json.skip()?,
                    }
                    Ok(())
                })?;
                Ok(fields)
            }
        }
    )*};
}
pub(crate) use object;
