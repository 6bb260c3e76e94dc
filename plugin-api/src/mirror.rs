//! One definition, two forms: the plain Rust type that authors and the core use, and its ABI-stable mirror. Components cross
//! otherwise ([`crate::wit`]), so there is no mirror in a build for WebAssembly.
//!
//! Conversions move. `String` and vectors of numbers keep their allocation on the way there; on the way back they keep it
//! within one program and are copied between a program and a library, each of which frees its own. The way back checks every
//! text: Rust's `String` must be UTF-8, and what the other side wrote need not be.

#[cfg(not(target_family = "wasm"))]
pub(crate) use crossing::text;
#[cfg(not(target_family = "wasm"))]
pub use crossing::{Imported, Mirror};

/// A text that came across is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a text that is not UTF-8")]
pub struct NotText;

#[cfg(not(target_family = "wasm"))]
mod crossing {
    use abi_stable::{
        StableAbi,
        std_types::{ROption, RStr, RString, RVec, Tuple2},
    };

    use super::NotText;

    /// What came across, or why it cannot be used.
    pub type Imported<T> = std::result::Result<T, NotText>;

    /// A text of the other side, checked.
    pub(crate) fn text(text: RStr<'_>) -> Imported<&str> {
        std::str::from_utf8(text.as_rslice().as_slice()).map_err(|_| NotText)
    }

    /// A plain type with an ABI-stable mirror.
    pub trait Mirror: Sized {
        /// The form that crosses the library boundary.
        type Abi: StableAbi;
        /// Into the form that crosses.
        fn into_abi(self) -> Self::Abi;
        /// Back from it.
        ///
        /// # Errors
        /// When a text in it is not UTF-8.
        fn from_abi(abi: Self::Abi) -> Imported<Self>;
        /// A list into its form; types that are the same on both sides keep the allocation as it is.
        fn list_into_abi(list: Vec<Self>) -> RVec<Self::Abi> {
            list.into_iter().map(Self::into_abi).collect::<Vec<_>>().into()
        }
        /// A list back from its form; types that are the same on both sides keep the allocation as it is.
        ///
        /// # Errors
        /// As [`Mirror::from_abi`].
        fn list_from_abi(abi: RVec<Self::Abi>) -> Imported<Vec<Self>> {
            abi.into_vec().into_iter().map(Self::from_abi).collect()
        }
    }

    macro_rules! mirror_identity {
        ($($ty:ty),*) => {$(
            impl Mirror for $ty {
                type Abi = $ty;
                fn into_abi(self) -> $ty {
                    self
                }
                fn from_abi(abi: $ty) -> Imported<$ty> {
                    Ok(abi)
                }
                fn list_into_abi(list: Vec<$ty>) -> RVec<$ty> {
                    list.into()
                }
                fn list_from_abi(abi: RVec<$ty>) -> Imported<Vec<$ty>> {
                    Ok(abi.into_vec())
                }
            }
        )*};
    }
    mirror_identity!(bool, u8, u16, u32, u64, i32, i64, f64);

    impl Mirror for String {
        type Abi = RString;
        fn into_abi(self) -> RString {
            self.into()
        }
        fn from_abi(abi: RString) -> Imported<String> {
            // What the other side has allocated is copied and given back by calls into it, even if it is nothing.
            if abi.is_empty() {
                return Ok(String::new());
            }
            String::from_utf8(abi.into_bytes().into_vec()).map_err(|_| NotText)
        }
    }

    impl<T: Mirror> Mirror for Vec<T> {
        type Abi = RVec<T::Abi>;
        fn into_abi(self) -> RVec<T::Abi> {
            // As most are.
            if self.is_empty() {
                return RVec::new();
            }
            T::list_into_abi(self)
        }
        fn from_abi(abi: RVec<T::Abi>) -> Imported<Vec<T>> {
            if abi.is_empty() {
                return Ok(Vec::new());
            }
            T::list_from_abi(abi)
        }
    }

    impl<T: Mirror> Mirror for Option<T> {
        type Abi = ROption<T::Abi>;
        fn into_abi(self) -> ROption<T::Abi> {
            self.map(T::into_abi).into()
        }
        fn from_abi(abi: ROption<T::Abi>) -> Imported<Option<T>> {
            abi.into_option().map(T::from_abi).transpose()
        }
    }

    impl<A: Mirror, B: Mirror> Mirror for (A, B) {
        type Abi = Tuple2<A::Abi, B::Abi>;
        fn into_abi(self) -> Self::Abi {
            Tuple2(self.0.into_abi(), self.1.into_abi())
        }
        fn from_abi(abi: Self::Abi) -> Imported<Self> {
            Ok((A::from_abi(abi.0)?, B::from_abi(abi.1)?))
        }
    }
}

/// Defines a plain struct and its mirror. `Plain / PlainAbi` names both.
macro_rules! contract {
    ($(
        $(#[$meta:meta])*
        pub struct $plain:ident / $abi:ident {
            $( $(#[$field_meta:meta])* pub $field:ident : $ty:ty, )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $plain {
            $( $(#[$field_meta])* pub $field: $ty, )*
        }

        #[cfg(not(target_family = "wasm"))]
        #[doc = concat!("How [`", stringify!($plain), "`] crosses a library boundary.")]
        #[repr(C)]
        #[derive(abi_stable::StableAbi)]
        pub struct $abi {
            $(
                #[doc = concat!("See [`", stringify!($plain), "`].")]
                pub $field: <$ty as $crate::mirror::Mirror>::Abi,
            )*
        }

        #[cfg(not(target_family = "wasm"))]
        impl $crate::mirror::Mirror for $plain {
            type Abi = $abi;
            fn into_abi(self) -> $abi {
                $abi { $( $field: $crate::mirror::Mirror::into_abi(self.$field), )* }
            }
            fn from_abi(abi: $abi) -> $crate::mirror::Imported<Self> {
                Ok(Self { $( $field: $crate::mirror::Mirror::from_abi(abi.$field)?, )* })
            }
        }
    )*};
}

/// Defines a fieldless enum that crosses as its code. A code that this build doesn't know (a newer peer's) becomes the
/// variant marked `else`.
macro_rules! contract_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident : $code:ty {
            $( $(#[$variant_meta:meta])* $variant:ident = $value:literal, )*
        } else $unknown:ident
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[repr($code)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant = $value, )*
        }

        impl $name {
            /// The number that crosses the library boundary.
            pub const fn code(self) -> $code {
                self as $code
            }
            /// The variant of a number.
            pub const fn from_code(code: $code) -> Self {
                match code {
                    $( $value => Self::$variant, )*
                    _ => Self::$unknown,
                }
            }
        }

        #[cfg(not(target_family = "wasm"))]
        impl $crate::mirror::Mirror for $name {
            type Abi = $code;
            fn into_abi(self) -> $code {
                self.code()
            }
            fn from_abi(abi: $code) -> $crate::mirror::Imported<Self> {
                Ok(Self::from_code(abi))
            }
        }
    };
}
