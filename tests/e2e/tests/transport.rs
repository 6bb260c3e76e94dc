//! How the server is reached: https, and a proxy.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use crate::harness::{Answer, Folder, Run, Scripted, Tls, text};

const PASSWORD: &str = "Zq7xV2mN0pLr8Tw3";

fn chat() -> Scripted {
    Scripted::new(|_| Answer::chat("hello"))
}

fn flags(url: &str) -> String {
    format!("--url {url} --model m --tokenizer builtin --request-count 3")
}

#[test]
fn https_with_the_files_that_flags_name() {
    let server = chat();
    let tls = Tls::before(server.address, true);
    let folder = Folder::new();
    let ca = folder.file("ca.pem", &tls.authority);
    let cert = folder.file("cert.pem", &tls.client.0);
    let key = folder.file("key.pem", &tls.client.1);
    let line = flags(&format!("https://127.0.0.1:{}", tls.port));
    let files = format!("--tls-ca-file {ca} --tls-client-cert {cert} --tls-client-key {key}");
    let run = Run::profile_in(folder, &format!("{line} {files}")).succeed();
    assert_eq!(run.records().len(), 3);
    assert_eq!(server.requests().len(), 3);
    assert_eq!(run.summary()["input_config"]["endpoint"]["tls"]["ca_file"], ca.as_str());

    // Without the client's certificate, and without the authority's.
    let folder = Folder::new();
    let ca = folder.file("ca.pem", &tls.authority);
    for (run, part) in [
        (
            Run::profile_in(folder, &format!("{line} --tls-ca-file {ca}")),
            "CertificateRequired",
        ),
        (
            Run::profile(&format!("{line} --tls-ca-file {}", other_authority())),
            "invalid peer certificate",
        ),
    ] {
        let run = run.finish();
        assert_eq!(run.code, Some(1), "{run}");
        let error = &run.records()[0]["error"];
        assert_eq!(text(error, "/type"), "TlsError", "{error}");
        for part in [part, "127.0.0.1", "--tls-ca-file"] {
            assert!(text(error, "/message").contains(part), "{part}: {error}");
        }
    }
}

/// A file with the certificate of somebody else. It stays until the process ends.
fn other_authority() -> String {
    let folder = std::mem::ManuallyDrop::new(Folder::new());
    let other = Tls::before("127.0.0.1:9".parse().unwrap(), false);
    folder.file("other.pem", other.authority)
}

#[test]
fn certificates_go_unchecked_only_when_asked() {
    let server = chat();
    let tls = Tls::before(server.address, false);
    let line = flags(&format!("https://127.0.0.1:{}", tls.port));
    for run in [
        Run::profile(&format!("{line} --insecure")),
        Run::profile(&line).env("AIPERF_HTTP_SSL_VERIFY", "false"),
    ] {
        let run = run.succeed();
        assert!(run.stderr.contains("certificates are not checked"), "{run}");
    }
    let run = Run::profile(&line).env("AIPERF_HTTP_SSL_VERIFY", "perhaps").finish();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("AIPERF_HTTP_SSL_VERIFY"), "{run}");
}

#[test]
fn a_file_that_is_missing_is_named_before_anything_is_sent() {
    let server = chat();
    let tls = Tls::before(server.address, false);
    let line = flags(&format!("https://127.0.0.1:{}", tls.port));
    let run = Run::profile(&format!("{line} --tls-ca-file /no/such/ca.pem")).finish();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stderr.contains("--tls-ca-file") && run.stderr.contains("/no/such/ca.pem"),
        "{run}"
    );
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn the_environment_names_no_proxy() {
    let server = chat();
    let mut run = Run::profile(&flags(&server.url()));
    // Nobody listens there.
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        run = run.env(name, "http://127.0.0.1:1");
    }
    run.succeed();
    assert!(
        server.requests()[0].line.starts_with("POST /v1/"),
        "{:?}",
        server.requests()[0]
    );
}

#[test]
fn a_proxy_that_is_named_is_used_and_its_password_kept() {
    let proxy = chat();
    let line = format!(
        "{} --http-proxy http://user:{PASSWORD}@{}",
        flags("http://model.invalid:81"),
        proxy.address
    );
    Run::profile(&line).secret(PASSWORD).succeed();
    let request = &proxy.requests()[0];
    assert!(
        request
            .line
            .starts_with("POST http://model.invalid:81/v1/chat/completions "),
        "{request:?}"
    );
    assert!(
        request
            .header("proxy-authorization")
            .is_some_and(|value| value.starts_with("Basic ")),
        "{request:?}"
    );

    let line = format!(
        "{} --http-proxy http://user:{PASSWORD}@127.0.0.1:1",
        flags("http://model.invalid:81")
    );
    let run = Run::profile(&line).secret(PASSWORD).finish();
    assert_eq!(run.code, Some(1), "{run}");
    let error = &run.records()[0]["error"];
    assert_eq!(text(error, "/type"), "ProxyError", "{error}");
    assert!(text(error, "/message").contains("--http-proxy"), "{error}");
}

/// Reads a request to its end; false at the end of the connection.
fn skip_request(reader: &mut impl BufRead) -> bool {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return false;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim_end().parse().unwrap();
        }
        if line == "\r\n" {
            return reader.read_exact(&mut vec![0; length]).is_ok();
        }
    }
}

#[test]
fn connections_that_die_unseen_are_no_errors_and_are_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        // Each connection answers one request, and dies of the second.
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let body = r#"{"object":"chat.completion","choices":[{"index":0,"message":{"content":"hi"}}]}"#;
            if skip_request(&mut reader) {
                let length = body.len();
                let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
                stream.write_all(answer.as_bytes()).unwrap();
                skip_request(&mut reader);
            }
        }
    });
    let line = format!("--url http://{address} --model m --tokenizer builtin --request-count 4 --concurrency 1");
    let run = Run::profile(&line).succeed();
    assert_eq!(run.records().len(), 4);
    let summary = run.summary();
    assert_eq!(summary["credits"][0]["completed"], 4, "{summary}");
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("3 requests were sent again"), "{warnings}");
}
