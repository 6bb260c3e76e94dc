//! A package: what one library provides.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{Dataset, Endpoint, Entry, Exporter, GpuCollector, Host, Metric, PluginError, Result, Timing};

/// What an instance is opened with.
#[derive(Clone)]
pub struct Open {
    /// Name of the entry, as registered.
    pub entry: String,
    /// The user's own options for this entry (`--plugin-opt category/name.key=value`) as a JSON object. Empty means none.
    pub options: String,
    /// What the core passes to every entry of the category, as a JSON object. Empty means nothing.
    pub core: String,
    /// Services of the core.
    pub host: Arc<dyn Host>,
}

impl std::fmt::Debug for Open {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Open")
            .field("entry", &self.entry)
            .field("options", &self.options)
            .field("core", &self.core)
            .finish_non_exhaustive()
    }
}

impl Open {
    /// Reads the user's options into a type of the entry's. Give it `#[serde(deny_unknown_fields)]`: a mistyped option is
    /// then an error instead of having no effect. An entry without options reads [`NoOptions`].
    ///
    /// # Errors
    /// [`ErrorKind::InvalidOptions`](crate::ErrorKind::InvalidOptions), naming the option that is unknown, missing or wrong.
    pub fn options<T: DeserializeOwned>(&self) -> Result<T> {
        read(&self.options).map_err(PluginError::options)
    }

    /// Reads what the core passes to every entry of the category, or as much of it as the entry needs. Ignore the rest: a
    /// newer core may pass more.
    ///
    /// # Errors
    /// Names what is missing or not as expected. That is no fault of the user's.
    pub fn core<T: DeserializeOwned>(&self) -> Result<T> {
        read(&self.core).map_err(|problem| PluginError::failed(format!("what the core passes: {problem}")))
    }

    /// The error for a name that the package does not have.
    pub fn unknown(&self) -> PluginError {
        PluginError::failed(format!("the package has no entry `{}` in this category", self.entry))
    }
}

/// The options of an entry that has none: any that the user gives is refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// Reads a JSON object; the error names the member at fault.
fn read<T: DeserializeOwned>(text: &str) -> std::result::Result<T, String> {
    let members: Map<String, Value> = match text {
        "" => Map::new(),
        text => serde_json::from_str(text).map_err(|error| format!("this is not a JSON object: {error}"))?,
    };
    serde_path_to_error::deserialize(Value::Object(members)).map_err(|error| {
        let (path, problem) = (error.path().to_string(), error.inner().to_string());
        // Of the object as a whole, or a message that names the member already.
        if path == "." || problem.contains(&format!("`{path}`")) {
            problem
        } else {
            format!("`{path}`: {problem}")
        }
    })
}

/// A package. Everything is optional but the list of entries.
pub trait Package: 'static {
    /// Name, as in the registry file.
    const NAME: &'static str;
    /// Version, as in the registry file.
    const VERSION: &'static str;

    /// Everything it provides.
    fn entries() -> Vec<Entry>;

    /// Opens an endpoint.
    ///
    /// # Errors
    /// When the options are wrong or the entry is unknown.
    fn endpoint(open: Open) -> Result<Box<dyn Endpoint>> {
        Err(open.unknown())
    }
    /// Opens a dataset.
    ///
    /// # Errors
    /// As above.
    fn dataset(open: Open) -> Result<Box<dyn Dataset>> {
        Err(open.unknown())
    }
    /// Opens a timing mode, an arrival pattern or a ramp.
    ///
    /// # Errors
    /// As above.
    fn timing(open: Open) -> Result<Box<dyn Timing>> {
        Err(open.unknown())
    }
    /// Opens a metric family.
    ///
    /// # Errors
    /// As above.
    fn metric(open: Open) -> Result<Box<dyn Metric>> {
        Err(open.unknown())
    }
    /// Opens an exporter.
    ///
    /// # Errors
    /// As above.
    fn exporter(open: Open) -> Result<Box<dyn Exporter>> {
        Err(open.unknown())
    }
    /// Opens a GPU collector.
    ///
    /// # Errors
    /// As above.
    fn gpu_collector(open: Open) -> Result<Box<dyn GpuCollector>> {
        Err(open.unknown())
    }
}

/// An open package, whatever its form: one that is linked in, a library, a component.
pub trait Opened: Send + Sync {
    /// Name that the package itself states.
    fn name(&self) -> &str;
    /// Version that the package itself states.
    fn version(&self) -> &str;
    /// Everything it registers.
    ///
    /// # Errors
    /// When the package fails.
    fn entries(&self) -> Result<Vec<Entry>>;
    /// Opens an endpoint.
    ///
    /// # Errors
    /// When the entry is unknown or its options are wrong.
    fn endpoint(&self, open: Open) -> Result<Box<dyn Endpoint>>;
    /// Opens a dataset.
    ///
    /// # Errors
    /// As above.
    fn dataset(&self, open: Open) -> Result<Box<dyn Dataset>>;
    /// Opens a timing entry.
    ///
    /// # Errors
    /// As above.
    fn timing(&self, open: Open) -> Result<Box<dyn Timing>>;
    /// Opens a metric family.
    ///
    /// # Errors
    /// As above.
    fn metric(&self, open: Open) -> Result<Box<dyn Metric>>;
    /// Opens an exporter.
    ///
    /// # Errors
    /// As above.
    fn exporter(&self, open: Open) -> Result<Box<dyn Exporter>>;
    /// Opens a GPU collector.
    ///
    /// # Errors
    /// As above.
    fn gpu_collector(&self, open: Open) -> Result<Box<dyn GpuCollector>>;
}

/// A shared handle of an open package.
#[derive(Clone)]
pub struct Root(Arc<dyn Opened>);

impl Root {
    /// A handle of a package.
    pub fn new(package: impl Opened + 'static) -> Self {
        Self(Arc::new(package))
    }
}

impl std::ops::Deref for Root {
    type Target = dyn Opened;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl std::fmt::Debug for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Root").field(&self.name()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{NoOptions, Open};
    use crate::{ErrorKind, host::NoHost};

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Options {
        limit: u32,
        #[serde(default)]
        shape: Shape,
    }

    #[derive(Debug, Default, PartialEq, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Shape {
        #[serde(default)]
        width: u32,
    }

    fn open(options: &str, core: &str) -> Open {
        Open {
            entry: "any".to_owned(),
            options: options.to_owned(),
            core: core.to_owned(),
            host: Arc::new(NoHost),
        }
    }

    #[test]
    fn the_users_and_the_cores_are_apart() {
        let open = open(r#"{"limit": 3}"#, r#"{"limit": 7, "later": [1]}"#);
        let expected = |limit| Options {
            limit,
            shape: Shape::default(),
        };
        assert_eq!(open.options::<Options>().unwrap(), expected(3));
        #[derive(serde::Deserialize)]
        struct Core {
            limit: u32,
        }
        assert_eq!(open.core::<Core>().unwrap().limit, 7);
        assert!(open.options::<NoOptions>().is_err());
    }

    #[test]
    fn none_is_an_empty_object() {
        assert_eq!(open("", "").options::<NoOptions>().unwrap(), NoOptions {});
        assert_eq!(open("", "{}").core::<NoOptions>().unwrap(), NoOptions {});
    }

    #[test]
    fn errors_name_the_option() {
        for (options, said) in [
            (
                r#"{"limit": 3, "limt": 4}"#,
                "unknown field `limt`, expected `limit` or `shape`",
            ),
            (
                r#"{"limit": "many"}"#,
                "`limit`: invalid type: string \"many\", expected u32",
            ),
            (
                r#"{"limit": 3, "shape": {"width": -1}}"#,
                "`shape.width`: invalid value: integer `-1`, expected u32",
            ),
            ("{}", "missing field `limit`"),
            ("[1]", "not a JSON object"),
            ("{", "not a JSON object"),
            ("{} {}", "not a JSON object"),
        ] {
            let error = open(options, "").options::<Options>().unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidOptions, "{options}");
            assert!(error.message.contains(said), "{options}: {}", error.message);
        }
        let error = open("", "{}").core::<Options>().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Failed, "that is not the user's fault");
        assert_eq!(error.message, "what the core passes: missing field `limit`");
    }
}
