//! One definition, two forms: the plain Rust type that authors and the core use, and its ABI-stable mirror.
//!
//! Conversions move; `String` and vectors of numbers keep their allocation.

use abi_stable::{
    StableAbi,
    std_types::{ROption, RString, RVec, Tuple2},
};

/// A plain type with an ABI-stable mirror.
pub trait Mirror: Sized {
    /// The form that crosses the library boundary.
    type Abi: StableAbi;
    /// Into the form that crosses.
    fn into_abi(self) -> Self::Abi;
    /// Back from it.
    fn from_abi(abi: Self::Abi) -> Self;
}

macro_rules! mirror_identity {
    ($($ty:ty),*) => {$(
        impl Mirror for $ty {
            type Abi = $ty;
            fn into_abi(self) -> $ty {
                self
            }
            fn from_abi(abi: $ty) -> $ty {
                abi
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
    fn from_abi(abi: RString) -> String {
        abi.into_string()
    }
}

impl<T: Mirror> Mirror for Vec<T> {
    type Abi = RVec<T::Abi>;
    fn into_abi(self) -> RVec<T::Abi> {
        self.into_iter().map(T::into_abi).collect::<Vec<_>>().into()
    }
    fn from_abi(abi: RVec<T::Abi>) -> Vec<T> {
        abi.into_vec().into_iter().map(T::from_abi).collect()
    }
}

impl<T: Mirror> Mirror for Option<T> {
    type Abi = ROption<T::Abi>;
    fn into_abi(self) -> ROption<T::Abi> {
        self.map(T::into_abi).into()
    }
    fn from_abi(abi: ROption<T::Abi>) -> Option<T> {
        abi.into_option().map(T::from_abi)
    }
}

impl<A: Mirror, B: Mirror> Mirror for (A, B) {
    type Abi = Tuple2<A::Abi, B::Abi>;
    fn into_abi(self) -> Self::Abi {
        Tuple2(self.0.into_abi(), self.1.into_abi())
    }
    fn from_abi(abi: Self::Abi) -> Self {
        (A::from_abi(abi.0), B::from_abi(abi.1))
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

        #[doc = concat!("How [`", stringify!($plain), "`] crosses a library boundary.")]
        #[repr(C)]
        #[derive(abi_stable::StableAbi)]
        pub struct $abi {
            $(
                #[doc = concat!("See [`", stringify!($plain), "`].")]
                pub $field: <$ty as $crate::mirror::Mirror>::Abi,
            )*
        }

        impl $crate::mirror::Mirror for $plain {
            type Abi = $abi;
            fn into_abi(self) -> $abi {
                $abi { $( $field: $crate::mirror::Mirror::into_abi(self.$field), )* }
            }
            fn from_abi(abi: $abi) -> Self {
                Self { $( $field: $crate::mirror::Mirror::from_abi(abi.$field), )* }
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

        impl $crate::mirror::Mirror for $name {
            type Abi = $code;
            fn into_abi(self) -> $code {
                self.code()
            }
            fn from_abi(abi: $code) -> Self {
                Self::from_code(abi)
            }
        }
    };
}
