//! The supported flags.

use super::{Flag, Kind, Secrecy, Section};

const ANY_COUNT: Kind = Kind::Int { min: 1, max: u64::MAX };
const COUNT_32: Kind = Kind::Int {
    min: 1,
    max: u32::MAX as u64,
};
const POSITIVE: Kind = Kind::Float {
    min: 0.0,
    above: true,
    infinite: false,
};
const NOT_NEGATIVE: Kind = Kind::Float {
    min: 0.0,
    above: false,
    infinite: false,
};
const GRACE: Kind = Kind::Float {
    min: 0.0,
    above: false,
    infinite: true,
};
const ONE_OF_MANY: Kind = Kind::List { tokens: false };
const MANY_TOKENS: Kind = Kind::List { tokens: true };

/// Log levels as typed.
pub(crate) const LOG_LEVELS: &[&str] = &[
    "TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL",
];

/// The supported flags, in the order of the help text.
pub(super) static SUPPORTED: &[Flag] = &[
    // Endpoint
    Flag::new(
        Section::Endpoint,
        &["--model-names", "--model", "-m"],
        ONE_OF_MANY,
        "mock-model with --url mock:",
        "Model or models to ask for.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--url", "-u"],
        MANY_TOKENS,
        "http://localhost:8000",
        "Base URL of the server; several are used in turn. http:// may be left out. mock: (with options, \
         mock:?key=value) starts the built-in mock server.",
    )
    .secrecy(Secrecy::Url),
    Flag::new(
        Section::Endpoint,
        &["--endpoint-type"],
        Kind::Name,
        "chat",
        "Endpoint plugin: what requests look like and how answers are read.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--custom-endpoint", "--endpoint"],
        Kind::Text,
        "by type",
        "Path to use instead of the endpoint's own; starts with /.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--streaming"],
        Kind::Switch,
        "off",
        "Ask for a stream of events; needed for TTFT and ITL.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--api-key"],
        Kind::Text,
        "",
        "Key for the server, as a bearer token unless the endpoint says otherwise. Never written to any file.",
    )
    .secrecy(Secrecy::Whole),
    Flag::new(
        Section::Endpoint,
        &["--request-timeout-seconds"],
        POSITIVE,
        "21600",
        "Limit on a whole request, from connecting to the last byte.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--tls-ca-file"],
        Kind::Path,
        "the system's certificates",
        "PEM file with the certificates to trust over https, instead of the system's.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--tls-client-cert"],
        Kind::Path,
        "",
        "PEM file with the certificate to show over https, and those that lead to its root.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--tls-client-key"],
        Kind::Path,
        "the file of --tls-client-cert",
        "PEM file with the private key of --tls-client-cert; not encrypted.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--insecure"],
        Kind::Switch,
        "off",
        "Accept any certificate over https. The environment variable AIPERF_HTTP_SSL_VERIFY=false does the same.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--http-proxy"],
        Kind::Text,
        "",
        "HTTP proxy for all requests: http://[user:password@]host:port. HTTP_PROXY and its like in the environment are \
         ignored.",
    )
    .secrecy(Secrecy::Url),
    Flag::new(
        Section::Endpoint,
        &["--use-server-token-count"],
        Kind::Switch,
        "off",
        "Take token counts from the server's usage report rather than from the tokenizer.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--per-chunk-usage"],
        Kind::Switch,
        "off",
        "Ask for token counts on every chunk. Needs --use-server-token-count, --streaming and endpoint type chat.",
    ),
    Flag::new(
        Section::Endpoint,
        &["--use-legacy-max-tokens"],
        Kind::Switch,
        "off",
        "Name the output limit max_tokens rather than max_completion_tokens.",
    ),
    // Tokenizer
    Flag::new(
        Section::Tokenizer,
        &["--tokenizer"],
        Kind::Text,
        "the model name; builtin with --url mock:",
        "What counts tokens: builtin (o200k_base), a file or directory, a model name in the local cache, or none to \
         rely on the server's counts.",
    ),
    // Input
    Flag::new(
        Section::Input,
        &["--input-file"],
        Kind::Path,
        "",
        "File or directory of conversations to send instead of synthetic ones.",
    ),
    Flag::new(
        Section::Input,
        &["--custom-dataset-type"],
        Kind::Name,
        "detected",
        "Dataset plugin that reads --input-file.",
    ),
    Flag::new(
        Section::Input,
        &["--extra-inputs"],
        Kind::Pairs,
        "",
        "Members to merge into each request body: key:value pairs or a JSON object.",
    )
    .secrecy(Secrecy::Pairs),
    Flag::new(
        Section::Input,
        &["--header", "-H"],
        Kind::Pairs,
        "",
        "HTTP headers to add to each request: Name:value pairs or a JSON object.",
    )
    .secrecy(Secrecy::Header),
    Flag::new(
        Section::Input,
        &["--random-seed"],
        Kind::Int { min: 0, max: u64::MAX },
        "entropy",
        "Seed of every random choice.",
    ),
    Flag::new(
        Section::Input,
        &["--dataset-sampling-strategy"],
        Kind::Choice(&["sequential", "random", "shuffle"]),
        "sequential",
        "Order in which conversations are taken: in order, at random with replacement, or shuffled on each pass.",
    ),
    // Conversation input
    Flag::new(
        Section::Conversation,
        &["--num-dataset-entries", "--num-prompts"],
        COUNT_32,
        "--num-conversations, else --request-count, else 100",
        "Conversations to generate.",
    ),
    Flag::new(
        Section::Conversation,
        &["--conversation-num", "--num-conversations", "--num-sessions"],
        ANY_COUNT,
        "",
        "Stop after starting this many conversations.",
    )
    .sweepable(),
    Flag::new(
        Section::Conversation,
        &["--conversation-turn-mean", "--session-turns-mean"],
        COUNT_32,
        "1",
        "Turns per conversation (synthetic data).",
    )
    .sweepable(),
    Flag::new(
        Section::Conversation,
        &["--conversation-turn-stddev", "--session-turns-stddev"],
        Kind::Int {
            min: 0,
            max: u32::MAX as u64,
        },
        "0",
        "Standard deviation of the turns per conversation.",
    ),
    Flag::new(
        Section::Conversation,
        &["--conversation-turn-delay-mean", "--session-turn-delay-mean"],
        NOT_NEGATIVE,
        "0",
        "Think time before every turn but the first, in milliseconds.",
    ),
    Flag::new(
        Section::Conversation,
        &["--conversation-turn-delay-stddev", "--session-turn-delay-stddev"],
        NOT_NEGATIVE,
        "0",
        "Standard deviation of the think time, in milliseconds.",
    ),
    Flag::new(
        Section::Conversation,
        &["--conversation-turn-delay-ratio", "--session-delay-ratio"],
        NOT_NEGATIVE,
        "1",
        "Factor on all think times.",
    ),
    // Input and output length
    Flag::new(
        Section::Length,
        &["--prompt-input-tokens-mean", "--synthetic-input-tokens-mean", "--isl"],
        COUNT_32,
        "550",
        "Input tokens per turn (synthetic data).",
    )
    .sweepable(),
    Flag::new(
        Section::Length,
        &[
            "--prompt-input-tokens-stddev",
            "--synthetic-input-tokens-stddev",
            "--isl-stddev",
        ],
        NOT_NEGATIVE,
        "0",
        "Standard deviation of the input tokens.",
    )
    .sweepable(),
    Flag::new(
        Section::Length,
        &["--prompt-output-tokens-mean", "--output-tokens-mean", "--osl"],
        COUNT_32,
        "no limit is sent",
        "Output tokens to ask for; with --input-file only where a row names none.",
    )
    .sweepable(),
    Flag::new(
        Section::Length,
        &[
            "--prompt-output-tokens-stddev",
            "--output-tokens-stddev",
            "--osl-stddev",
        ],
        NOT_NEGATIVE,
        "0",
        "Standard deviation of the output tokens. Needs --osl.",
    )
    .sweepable(),
    // Load generator
    Flag::new(
        Section::Load,
        &["--concurrency"],
        COUNT_32,
        "1; unlimited with a rate",
        "Conversations in flight; with a rate it is a ceiling.",
    )
    .sweepable(),
    Flag::new(Section::Load, &["--request-rate"], POSITIVE, "", "Requests per second.").sweepable(),
    Flag::new(
        Section::Load,
        &["--arrival-pattern", "--request-rate-mode"],
        Kind::Name,
        "poisson; gamma with --arrival-smoothness",
        "How requests are spaced at a rate: constant, poisson, gamma, or a plugin's pattern.",
    ),
    Flag::new(
        Section::Load,
        &["--arrival-smoothness", "--vllm-burstiness"],
        POSITIVE,
        "1",
        "Shape of gamma arrivals: above 1 smoother than poisson, below 1 burstier. Needs --request-rate.",
    ),
    Flag::new(
        Section::Load,
        &["--request-count", "--num-requests"],
        ANY_COUNT,
        "10 without any stop condition",
        "Stop after sending this many requests.",
    )
    .sweepable(),
    Flag::new(
        Section::Load,
        &["--benchmark-duration"],
        POSITIVE,
        "",
        "Stop sending after this many seconds.",
    )
    .sweepable(),
    Flag::new(
        Section::Load,
        &["--benchmark-grace-period"],
        GRACE,
        "30",
        "Seconds to wait for answers after --benchmark-duration; inf = as long as it takes.",
    ),
    // Warmup
    Flag::new(
        Section::Warmup,
        &["--warmup-request-count", "--num-warmup-requests"],
        ANY_COUNT,
        "",
        "Warm up with this many requests.",
    ),
    Flag::new(
        Section::Warmup,
        &["--warmup-duration"],
        POSITIVE,
        "",
        "Warm up for this many seconds.",
    ),
    Flag::new(
        Section::Warmup,
        &["--num-warmup-sessions"],
        ANY_COUNT,
        "",
        "Warm up with this many conversations.",
    ),
    Flag::new(
        Section::Warmup,
        &["--warmup-concurrency"],
        COUNT_32,
        "--concurrency",
        "Conversations in flight while warming up.",
    ),
    Flag::new(
        Section::Warmup,
        &["--warmup-request-rate"],
        POSITIVE,
        "--request-rate",
        "Requests per second while warming up.",
    ),
    Flag::new(
        Section::Warmup,
        &["--warmup-arrival-pattern"],
        Kind::Name,
        "--arrival-pattern",
        "How requests are spaced while warming up; concurrency_burst drops an inherited rate.",
    ),
    Flag::new(
        Section::Warmup,
        &["--warmup-grace-period"],
        GRACE,
        "inf",
        "Seconds to wait for answers after --warmup-duration.",
    ),
    // Goodput
    Flag::new(
        Section::Goodput,
        &["--goodput"],
        Kind::Text,
        "",
        "Objectives that a good request meets, as one text of tag:threshold pairs in display units: \
         \"request_latency:250 inter_token_latency:10\".",
    ),
    // Output
    Flag::new(
        Section::Output,
        &["--output-artifact-dir", "--artifact-dir"],
        Kind::Path,
        "artifacts/<model>-openai-<endpoint>-<load>",
        "Directory for results, used as it is.",
    ),
    Flag::new(
        Section::Output,
        &["--profile-export-prefix", "--profile-export-file"],
        Kind::Text,
        "",
        "Base of the export file names; directories and known endings are dropped.",
    ),
    Flag::new(
        Section::Output,
        &["--export-level", "--profile-export-level"],
        Kind::Choice(&["summary", "records", "raw"]),
        "records",
        "What is written for each request: nothing, its metrics, or also its bodies.",
    ),
    Flag::new(
        Section::Output,
        &["--export-http-trace"],
        Kind::Switch,
        "off",
        "Add to each record what happened on its connection: bytes, stages, and the kernel's and our own timestamps.",
    ),
    Flag::new(
        Section::Output,
        &["--require-valid"],
        Kind::Switch,
        "off",
        "Exit with code 4 unless the run's verdict on its own validity is `valid`.",
    ),
    Flag::new(
        Section::Load,
        &["--timestamp-source"],
        Kind::Choice(&["kernel", "user"]),
        "kernel where the system has it",
        "Whose clock says when a response arrived: the kernel's, on receipt, or this process's, on reading.",
    ),
    // User interface and service
    Flag::new(
        Section::Service,
        &["--ui-type", "--ui"],
        Kind::Choice(&["dashboard", "simple", "none"]),
        "simple on a terminal, plain lines otherwise",
        "How progress is shown; dashboard is not supported yet.",
    ),
    Flag::new(
        Section::Service,
        &["--log-level"],
        Kind::Choice(LOG_LEVELS),
        "INFO",
        "Least severe level to log.",
    ),
    Flag::new(
        Section::Service,
        &["--verbose", "-v"],
        Kind::Switch,
        "off",
        "Short for --log-level DEBUG, with --ui simple unless --ui is given.",
    ),
    Flag::new(
        Section::Service,
        &["--extra-verbose", "-vv"],
        Kind::Switch,
        "off",
        "Short for --log-level TRACE, with --ui simple unless --ui is given.",
    ),
    Flag::new(
        Section::Service,
        &["--workers-max", "--max-workers"],
        COUNT_32,
        "by load",
        "Workers at most.",
    ),
    Flag::new(
        Section::Service,
        &["--record-processor-service-count", "--record-processors"],
        COUNT_32,
        "by workers",
        "Record processors.",
    ),
    // Telemetry
    Flag::new(
        Section::Telemetry,
        &["--gpu-telemetry"],
        MANY_TOKENS,
        "",
        "GPU collectors to run, by name; each may be followed by the URLs that it is to ask (NAME URL...).",
    )
    .secrecy(Secrecy::Url),
    Flag::new(
        Section::Telemetry,
        &["--no-gpu-telemetry"],
        Kind::Switch,
        "off",
        "Collect no GPU telemetry.",
    ),
    Flag::new(
        Section::Telemetry,
        &["--no-server-metrics"],
        Kind::Switch,
        "off",
        "Collect no server metrics.",
    ),
    // Plugins
    Flag::new(
        Section::Plugins,
        &["--plugin-registry"],
        Kind::Each,
        "",
        "Registry file to read besides the built-in and installed ones; may be repeated.",
    ),
    Flag::new(
        Section::Plugins,
        &["--plugin"],
        Kind::Each,
        "",
        "Take an entry from a certain package: category/name=package; may be repeated.",
    ),
    Flag::new(
        Section::Plugins,
        &["--plugin-opt"],
        Kind::Each,
        "",
        "Option of a plugin: category/name.key=value, the value as JSON or text; may be repeated.",
    )
    .secrecy(Secrecy::Option),
    Flag::new(
        Section::Plugins,
        &["--plugin-grant"],
        Kind::Each,
        "",
        "Let a package do what it asks for: package=http:HOST:PORT or package=secrets; may be repeated.",
    ),
    Flag::new(
        Section::Plugins,
        &["--timing"],
        Kind::Name,
        "request_rate",
        "Timing plugin of the measured phase.",
    ),
    Flag::new(
        Section::Plugins,
        &["--metric"],
        MANY_TOKENS,
        "",
        "Metrics to run besides the built-in ones.",
    ),
    Flag::new(
        Section::Plugins,
        &["--exporter"],
        MANY_TOKENS,
        "",
        "Exporters to run besides the built-in ones.",
    ),
    Flag::new(
        Section::Plugins,
        &["--wasm-only"],
        Kind::Switch,
        "off",
        "Refuse native plugins that are not built in.",
    ),
    Flag::new(
        Section::Plugins,
        &["--wasm-timeout"],
        POSITIVE,
        "5",
        "Limit on one call of a WebAssembly plugin, in seconds; ten times that for calls that read or write much.",
    ),
    Flag::new(
        Section::Plugins,
        &["--wasm-memory"],
        Kind::Int { min: 1, max: 4096 },
        "512",
        "Limit on the memory of one instance of a WebAssembly plugin, in MiB.",
    ),
    Flag::new(
        Section::Plugins,
        &["--wasm-compile-timeout"],
        Kind::Int { min: 1, max: 3600 },
        "120",
        "Limit on the processor time for compiling a WebAssembly plugin, in seconds.",
    ),
];
