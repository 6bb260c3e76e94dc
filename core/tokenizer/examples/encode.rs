//! Load time and speed of a tokenizer: `cargo run --release -p aiperf-tokenizer --example encode [NAME|FOLDER|FILE]`.

use aiperf_tokenizer::{PromptGenerator, Request, Tokenizer, resolve, rng};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "builtin".to_owned());
    let request = Request {
        tokenizer: Some(&name),
        model: "",
        revision: "main",
    };
    let choice = resolve(&request, &|name| std::env::var_os(name))?.ok_or("nothing to load for `none`")?;

    let start = Instant::now();
    let tokenizer = Tokenizer::load_in_background(choice.source).wait()?;
    println!(
        "{}: loaded in {:.1?}, {} ids",
        tokenizer.name(),
        start.elapsed(),
        tokenizer.vocab_size()
    );

    let start = Instant::now();
    let generator = PromptGenerator::new(tokenizer.clone())?;
    println!("prompt generator: {:.1?}", start.elapsed());

    let mut rng = rng::stream(42, "dataset.prompt.corpus");
    let start = Instant::now();
    let prompts = (0..10_000)
        .map(|_| generator.prompt(&mut rng, 550))
        .collect::<Result<Vec<_>, _>>()?;
    let exact = prompts.iter().filter(|prompt| prompt.tokens == 550).count();
    println!("10,000 prompts of 550 tokens: {:.2?}, {exact} exact", start.elapsed());
    println!("for instance: {}", prompts[0].text);

    let megabytes = prompts.iter().map(|prompt| prompt.text.len()).sum::<usize>() as f64 / 1e6;
    for (what, encode) in [("count", false), ("encode", true)] {
        let start = Instant::now();
        let mut tokens = 0;
        for prompt in &prompts {
            tokens += if encode {
                tokenizer.encode(&prompt.text)?.len()
            } else {
                tokenizer.count(&prompt.text)?
            };
        }
        println!(
            "{what}: {:.1} MB/s ({tokens} tokens)",
            megabytes / start.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
