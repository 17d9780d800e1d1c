//! `clickwork links`: makes links under which the program acts as Click's programs.

use crate::output;
use crate::programs::PROGRAMS;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Make links named click, click-check and so on, for scripts written for Click
///
/// Each link in DIR points to this program, which then takes the options of, and prints as, the program of Click that
/// the link is named after. Put DIR into PATH to use them.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Links {
    /// Where to put the links; made if it does not exist
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

const EXAMPLES: &str = "Example:
  clickwork links ~/click/bin && PATH=~/click/bin:$PATH click-check router.click";

/// Makes the links.
pub fn main(args: &Links) -> ExitCode {
    match make(&args.dir) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => output::fail(&format!("{}: {}", args.dir.display(), output::reason(&e))),
    }
}

fn make(dir: &Path) -> io::Result<()> {
    let program = std::env::current_exe()?;
    std::fs::create_dir_all(dir)?;
    let width = PROGRAMS.iter().map(|p| dir.join(p.name).display().to_string().len()).max().unwrap_or(0);
    for p in PROGRAMS {
        let link = dir.join(p.name);
        if link.is_symlink() {
            std::fs::remove_file(&link)?;
        }
        std::os::unix::fs::symlink(&program, &link)?;
        output::print(&format!("{:<width$}  {}\n", link.display().to_string(), p.help));
    }
    Ok(())
}
