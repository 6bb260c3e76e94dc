//! What a run used: packages with versions and digests, who won and who was shadowed, and the time spent.

use crate::host::PluginHost;
use crate::registry::Form;
use crate::resolve::Verdict;
use serde::Serialize;

/// An opened package.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackageUse {
    /// Its name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The registry file that declares it.
    pub registry: String,
    /// `bundled` or `native`.
    pub form: &'static str,
    /// Native code that did not come with this program: trusted, not contained.
    pub unsandboxed: bool,
    /// The library file; none for a bundled package.
    pub library: Option<String>,
    /// SHA-256 of the library file as it was read.
    pub sha256: Option<String>,
    /// Version of the plugin API it was built for.
    pub api: Option<String>,
    /// The compiler that built it.
    pub rustc: Option<String>,
    /// What the user lets it do beyond computing.
    pub granted: Vec<String>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Its entries in use.
    pub entries: Vec<EntryUse>,
}

/// An entry in use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EntryUse {
    /// Its role.
    pub role: &'static str,
    /// Its name.
    pub name: String,
    /// Other entries of this name and why they lost.
    pub shadowed: Vec<String>,
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Time spent in calls, in ns.
    pub total_ns: u64,
    /// The longest call, in ns.
    pub max_ns: u64,
}

impl PluginHost {
    /// The packages opened so far with their entries in use, in the order of their registry files.
    pub fn usage(&self) -> Vec<PackageUse> {
        let used = self.used();
        let opened = self
            .opened()
            .into_iter()
            .filter_map(|(key, package)| Some((key, package.ok()?)));
        opened
            .filter_map(|((file, name), loaded)| {
                let granted = self.granted(&(file, name.clone()));
                let registry = &self.resolution().files()[file];
                let declared = registry.package(&name)?;
                let entries = used
                    .iter()
                    .filter(|(entry, _)| entry.file == file && self.resolution().entry(**entry).package == name);
                let aborts = loaded.info.as_ref().is_some_and(|info| !info.unwinds);
                let warning = "built with panic=abort: a panic in it ends the whole run".to_owned();
                Some(PackageUse {
                    package: declared.name.to_string(),
                    version: declared.version.clone(),
                    registry: registry.source.to_string(),
                    form: declared.form.as_str(),
                    unsandboxed: matches!(declared.form, Form::Native(_)),
                    library: loaded.library.as_ref().map(|path| path.display().to_string()),
                    sha256: loaded.digest.map(|digest| digest.to_string()),
                    api: loaded.info.as_ref().map(|info| info.api.to_string()),
                    rustc: loaded
                        .info
                        .as_ref()
                        .map(|info| info.rustc.clone())
                        .filter(|rustc| !rustc.is_empty()),
                    granted: granted.iter().map(ToString::to_string).collect(),
                    warnings: aborts.then_some(warning).into_iter().collect(),
                    entries: entries.map(|(&entry, plugin)| self.entry_use(entry, plugin)).collect(),
                })
            })
            .collect()
    }

    fn entry_use(&self, entry: crate::resolve::EntryRef, plugin: &crate::meter::Plugin) -> EntryUse {
        let declared = self.resolution().entry(entry);
        let claims = self
            .resolution()
            .contest(declared.role, &declared.name)
            .map(|contest| contest.claims());
        let others = claims.unwrap_or_default().iter().filter(|(other, _)| *other != entry);
        let line = |(other, verdict): &(_, Verdict)| {
            let (file, loser) = (self.resolution().file(*other), self.resolution().entry(*other));
            format!("package {} ({}) {verdict}", loser.package, file.source)
        };
        EntryUse {
            role: declared.role.as_str(),
            name: declared.name.to_string(),
            shadowed: others.map(line).collect(),
            calls: plugin.calls(),
            errors: plugin.errors(),
            total_ns: plugin.total_ns(),
            max_ns: plugin.max_ns(),
        }
    }
}
