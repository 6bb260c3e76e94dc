use super::*;
use std::collections::HashMap;

fn registry(package: &str) -> String {
    format!(
        "schema_version: \"1.0\"\npackages:\n  {package}: {{ version: 1.0.0, api: \">=1\", library: a.so }}\n\
         endpoint:\n  {package}_chat: {{ package: {package} }}\n"
    )
}

const BUILTIN: &str = "schema_version: \"1.0\"\npackages:\n  core: { version: 1.0.0, api: \">=1\", bundled: true }\n\
                       endpoint:\n  chat: { package: core }\n";

struct Scene {
    root: tempfile::TempDir,
    environment: HashMap<&'static str, OsString>,
    named: Vec<PathBuf>,
}

impl Scene {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let environment = HashMap::from([("XDG_DATA_HOME", root.path().as_os_str().to_owned())]);
        Self {
            root,
            environment,
            named: Vec::new(),
        }
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.root.path().canonicalize().unwrap().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn discover(&self) -> Result<Discovered, RegistryError> {
        let environment = |name: &str| self.environment.get(name).cloned();
        discover(&Places {
            builtin: BUILTIN,
            environment: &environment,
            named: &self.named,
        })
    }

    /// The rank and the first package of each file.
    fn packages(&self) -> Vec<(u8, String)> {
        let found = self.discover().unwrap();
        found
            .files
            .iter()
            .map(|file| (file.source.rank(), file.packages[0].name.to_string()))
            .collect()
    }
}

fn expect(pairs: &[(u8, &str)]) -> Vec<(u8, String)> {
    pairs.iter().map(|&(rank, name)| (rank, name.to_owned())).collect()
}

#[test]
fn four_places_in_order() {
    let mut scene = Scene::new();
    assert_eq!(scene.packages(), expect(&[(0, "core")]));
    scene.write("aiperf/plugins/zeta/registry.yaml", &registry("zeta"));
    scene.write("aiperf/plugins/alpha/1.0/registry.yaml", &registry("alpha"));
    scene.write("aiperf/plugins/alpha/other.yaml", "not a registry");
    scene.write("aiperf/plugins/a/b/c/d/registry.yaml", &registry("too_deep"));
    let (first, second) = (
        scene.write("env/1.yaml", &registry("env1")),
        scene.write("env/2.yaml", &registry("env2")),
    );
    scene
        .environment
        .insert(REGISTRY_VARIABLE, std::env::join_paths([&second, &first]).unwrap());
    scene.named.push(scene.write("cli.yaml", &registry("cli")));
    let expected = [
        (0, "core"),
        (1, "alpha"),
        (1, "zeta"),
        (2, "env2"),
        (2, "env1"),
        (3, "cli"),
    ];
    assert_eq!(scene.packages(), expect(&expected));
    scene.named.push(first);
    let expected = [
        (0, "core"),
        (1, "alpha"),
        (1, "zeta"),
        (2, "env2"),
        (3, "cli"),
        (3, "env1"),
    ];
    assert_eq!(
        scene.packages(),
        expect(&expected),
        "a file found twice counts once, as the more explicit one"
    );
}

#[test]
fn the_plugin_folder() {
    let folder = |pairs: &[(&str, &str)]| {
        let pairs: HashMap<String, OsString> = pairs.iter().map(|&(k, v)| (k.to_owned(), v.into())).collect();
        plugin_folder(&|name: &str| pairs.get(name).cloned())
    };
    assert_eq!(
        folder(&[("XDG_DATA_HOME", "/d"), ("HOME", "/h")]),
        Some("/d/aiperf/plugins".into())
    );
    assert_eq!(folder(&[("HOME", "/h")]), Some("/h/.local/share/aiperf/plugins".into()));
    assert_eq!(
        folder(&[("XDG_DATA_HOME", "d"), ("HOME", "/h")]),
        Some("/h/.local/share/aiperf/plugins".into())
    );
    assert_eq!(folder(&[("HOME", "relative")]), None);
}

#[test]
fn a_broken_installed_file_is_a_warning() {
    let scene = Scene::new();
    let broken = scene.write("aiperf/plugins/broken/registry.yaml", "schema_version: 7\n");
    scene.write("aiperf/plugins/fine/registry.yaml", &registry("fine"));
    scene.write("aiperf/plugins/fine2/registry.yaml", &registry("FINE"));
    scene.write("aiperf/plugins/core/registry.yaml", &registry("core"));
    let found = scene.discover().unwrap();
    assert_eq!(scene.packages(), expect(&[(0, "core"), (1, "fine")]));
    let warnings: Vec<String> = found.warnings.iter().map(ToString::to_string).collect();
    let [first, second, third] = warnings.as_slice() else {
        panic!("{warnings:?}")
    };
    assert!(
        first.starts_with(&format!("{}:1:17: schema_version: expected text", broken.display())),
        "{first}"
    );
    assert!(
        second.contains("packages.core: built-in registry already declares a package of this name"),
        "{second}"
    );
    assert!(
        third.contains("fine/registry.yaml already declares a package of this name; rename"),
        "{third}"
    );
}

#[test]
fn a_broken_named_file_is_an_error() {
    let fine = Scene::new();
    let (a, b) = (
        fine.write("a.yaml", &registry("same")),
        fine.write("b.yaml", &registry("same")),
    );
    let broken = fine.write("broken.yaml", "[");
    let missing = fine.root.path().join("missing.yaml");
    let table: [(&[&Path], &str, &str); 6] = [
        (&[&broken], "", "broken.yaml"),
        (&[&missing], "", "name an existing registry file"),
        (&[&a, &b], "", "already declares a package"),
        (
            &[],
            "relative.yaml",
            "AIPERF_PLUGIN_REGISTRY holds a relative path; write the absolute path",
        ),
        (&[fine.root.path()], "", "name a readable YAML file"),
        (&[], missing.to_str().unwrap(), "name an existing registry file"),
    ];
    for (named, listed, expected) in table {
        let mut scene = Scene::new();
        scene.named = named.iter().map(|path| path.to_path_buf()).collect();
        scene.environment.insert(REGISTRY_VARIABLE, listed.into());
        let error = scene.discover().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_named_file_may_replace_an_installed_package() {
    let mut scene = Scene::new();
    scene.write("aiperf/plugins/acme/registry.yaml", &registry("acme"));
    scene.named.push(scene.write("dev.yaml", &registry("acme")));
    assert_eq!(scene.packages(), expect(&[(0, "core"), (1, "acme"), (3, "acme")]));
}
