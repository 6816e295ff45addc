//! Completions for shells and pages for `man`.

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;
use sealwax::Error;

use super::Failure;
use crate::args::Cli;

pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sealwax", &mut script);
    script
}

/// Returns the page of a command, found by its words.
pub fn page(words: &[String]) -> Result<Vec<u8>, Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    for word in words {
        let Some(found) = command.find_subcommand(word) else {
            return Err(Error::InvalidArgument(
                format!("COMMAND: expected a command of sealwax, found {word:?}").into(),
            )
            .into());
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    let source = concat!("sealwax ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source).manual("Sealwax");
    man.render(&mut page)?;
    Ok(page)
}
