//! What the user lets packages do. Asking for it is one thing, being granted it another: both are needed.

use crate::capability::Capability;
use crate::host::PackageKey;
use crate::name::Name;
use crate::registry::{Package, RegistryFile, Source};
use crate::resolve::Resolution;
use aiperf_plugin_api::host::LogLevel;
use aiperf_plugin_api::{ErrorKind, Host, HttpAnswer, HttpRequest, PluginError, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Beside the registry file of an installed package: what was granted when it was installed, a line each. A package can't
/// bring a file of this name, and replacing or removing the package takes it away.
pub const GRANTED_FILE: &str = ".granted";

/// A grant leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// No package of that name is registered.
    #[error("no package {package} is registered")]
    NoPackage {
        /// The name that was given.
        package: String,
    },
    /// It does not ask for this.
    #[error("package {package} does not ask for {capability}; it asks for {asks_for}")]
    NotAsked {
        /// The package.
        package: String,
        /// What it was to be granted.
        capability: Capability,
        /// What it asks for.
        asks_for: String,
    },
}

/// What each package may do: what was granted at its installation, and for this run. Packages are named with the index of
/// their registry file: another file's package of the same name inherits nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grants(BTreeMap<PackageKey, BTreeSet<Capability>>);

impl Grants {
    /// Reads what installed packages were granted, and adds grants by package name: for the package of the file that was
    /// named most explicitly.
    pub(crate) fn new<'a>(
        resolution: &Resolution,
        grants: impl IntoIterator<Item = (&'a str, &'a Capability)>,
    ) -> std::result::Result<Self, GrantError> {
        let packages = || {
            let files = resolution.files().iter().enumerate();
            files.flat_map(|(index, file)| file.packages().iter().map(move |package| (index, file, package)))
        };
        let mut all: BTreeMap<PackageKey, BTreeSet<Capability>> = packages()
            .map(|(index, file, package)| {
                let granted = granted_at_installation(file, package).into_iter().collect();
                ((index, package.name.clone()), granted)
            })
            .collect();
        for (name, capability) in grants {
            let wanted = Name::parse(name);
            let mut named = packages().filter(|(_, _, package)| Some(&package.name) == wanted.as_ref());
            let (index, _, package) = named.next_back().ok_or_else(|| GrantError::NoPackage {
                package: name.to_owned(),
            })?;
            package.asks_for(capability)?;
            all.entry((index, package.name.clone()))
                .or_default()
                .insert(capability.clone());
        }
        Ok(Self(all))
    }

    /// What a package may do.
    pub(crate) fn of(&self, package: &PackageKey) -> BTreeSet<Capability> {
        self.0.get(package).cloned().unwrap_or_default()
    }
}

impl Package {
    /// Checks that it asks for this.
    ///
    /// # Errors
    /// It does not.
    pub fn asks_for(&self, capability: &Capability) -> std::result::Result<(), GrantError> {
        if self.capabilities.iter().any(|asked| asked.covers(capability)) {
            return Ok(());
        }
        let asks_for: Vec<String> = self.capabilities.iter().map(ToString::to_string).collect();
        Err(GrantError::NotAsked {
            package: self.name.to_string(),
            capability: capability.clone(),
            asks_for: if asks_for.is_empty() {
                "nothing".to_owned()
            } else {
                asks_for.join(", ")
            },
        })
    }
}

/// What a package was granted when it was installed, as far as it asks for it.
pub fn granted_at_installation(file: &RegistryFile, package: &Package) -> Vec<Capability> {
    let Source::Installed(_) = &file.source else {
        return Vec::new();
    };
    let path = file.folder().join(GRANTED_FILE);
    // Nothing there, or nothing readable, grants nothing.
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| *name == package.name.as_str())
        .filter_map(|(_, capability)| Capability::parse(capability))
        .filter(|capability| package.asks_for(capability).is_ok())
        .collect()
}

/// Services of an instance, held to what its package may do.
pub(crate) struct Granted {
    services: Arc<dyn Host>,
    package: Name,
    capabilities: BTreeSet<Capability>,
    /// A refusal has been logged. The plugin is told each time, and may keep it to itself.
    told: AtomicBool,
}

impl Granted {
    pub(crate) fn new(services: Arc<dyn Host>, package: Name, capabilities: BTreeSet<Capability>) -> Self {
        Self {
            services,
            package,
            capabilities,
            told: AtomicBool::new(false),
        }
    }

    fn check(&self, needed: &Capability) -> Result<()> {
        if self.capabilities.contains(needed) {
            return Ok(());
        }
        let (package, problem) = (
            &self.package,
            format!("{needed} is not granted to package {}", self.package),
        );
        if !self.told.swap(true, Relaxed) {
            self.services.log(LogLevel::Warning, &problem);
        }
        Err(PluginError::new(ErrorKind::Unsupported, problem).with_help(format!(
            "if you trust it with that: --plugin-grant {package}={needed}, if its registry file asks for it"
        )))
    }
}

impl Host for Granted {
    fn log(&self, level: LogLevel, message: &str) {
        self.services.log(level, message);
    }
    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        self.services.encode(text)
    }
    fn decode(&self, tokens: &[u32]) -> Result<String> {
        self.services.decode(tokens)
    }
    fn prompt(&self, stream: &str, tokens: u32) -> Result<String> {
        self.services.prompt(stream, tokens)
    }
    fn separator(&self) -> Option<u32> {
        self.services.separator()
    }
    fn seed(&self, stream: &str) -> u64 {
        self.services.seed(stream)
    }
    fn intervals(&self, rate: f64, count: u32) -> Result<Vec<u64>> {
        self.services.intervals(rate, count)
    }
    fn http(&self, origin: &str, request: HttpRequest, timeout_ms: u32) -> Result<HttpAnswer> {
        let needed = Capability::of_origin(origin).ok_or_else(|| {
            PluginError::failed(format!(
                "it asks the server {origin:?}, which is not http://HOST[:PORT] or https://HOST[:PORT]"
            ))
        })?;
        self.check(&needed)?;
        self.services.http(origin, request, timeout_ms)
    }
    fn api_key(&self) -> Result<Option<String>> {
        self.check(&Capability::Secrets)?;
        self.services.api_key()
    }
}
