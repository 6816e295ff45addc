//! Completions for shells and pages for `man`: of this program alone.

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use clap_mangen::Man;
use zeroize::Zeroizing;

use crate::{Failed, args, failed};

/// Adds the commands that print them.
pub fn with_pages(command: Command) -> Command {
    let shell = Arg::new("shell").value_name("SHELL").required(true);
    let words = Arg::new("command").value_name("COMMAND").num_args(0..);
    let of = "The command to print the page of, such as `ledger end`; by default `sealwax` itself";
    command.subcommands([
        Command::new("completions")
            .about("Print the completions for a shell, to be sourced or installed")
            .arg(shell.value_parser(value_parser!(Shell))),
        Command::new("man")
            .about("Print a manual page, in roff")
            .arg(words.help(of)),
    ])
}

pub fn completions(given: &ArgMatches) -> Zeroizing<Vec<u8>> {
    let mut script = Vec::new();
    if let Some(&shell) = given.get_one::<Shell>("shell") {
        let mut command = with_pages(args::commands());
        clap_complete::generate(shell, &mut command, "sealwax", &mut script);
    }
    script.into()
}

/// Returns the page of a command, found by its words.
pub fn page(given: &ArgMatches) -> Result<Zeroizing<Vec<u8>>, Failed> {
    let mut command = with_pages(args::commands()).disable_help_subcommand(true);
    command.build();
    for word in given.get_many::<String>("command").unwrap_or_default() {
        let Some(found) = command.find_subcommand(word) else {
            let why = format!("COMMAND: expected a command of sealwax, found {word:?}");
            return Err(failed(&format!("invalid_argument: {why}")));
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    let source = concat!("sealwax ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source).manual("Sealwax");
    man.render(&mut page).map_err(|error| failed(&error))?;
    Ok(page.into())
}
