//! Scripts by which shells complete the command line.

use clap::Command;
use clap_complete::Shell;

/// The script for `shell`: what clap generates, and names after a comma in lists of metrics and measures.
pub fn script(shell: Shell, command: &mut Command) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "capeval", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script
            .replacen("\nif [[", &format!("\n{BASH}\nif [["), 1)
            .replace("complete -F _capeval ", "complete -F _capeval_lists "),
        Shell::Zsh => script.replacen("_capeval() {\n", &format!("_capeval() {{\n{ZSH}"), 1),
        Shell::Fish => {
            let names = |flag: &str| flag_names(command, flag).join(" ");
            let lists = FLAGS.iter().map(|(flag, short)| {
                let short = short.map_or_else(String::new, |short| format!(" -s {short}"));
                format!(
                    "complete -c capeval{short} -l {flag} -n __capeval_in_list -x -a \"(__capeval_after_comma {})\"\n",
                    names(flag)
                )
            });
            script + FISH + &lists.collect::<String>()
        }
        _ => script,
    }
}

/// The flags that take lists of names, with their short forms.
const FLAGS: [(&str, Option<char>); 2] = [("metrics", Some('m')), ("on", None)];

/// The names that `flag` takes in any command.
fn flag_names(command: &Command, flag: &str) -> Vec<String> {
    let args = command.get_subcommands().flat_map(Command::get_arguments);
    let values = args.filter(|arg| arg.get_long() == Some(flag)).flat_map(clap::Arg::get_possible_values);
    let mut names: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

const BASH: &str = r#"_capeval_lists() {
    local list=""
    case "$3" in
        -m|--metrics|--on) [[ "$2" == *,* ]] && list="${2%,*}," ;;
    esac
    _capeval "$1" "${2#"$list"}" "$3"
    COMPREPLY=("${COMPREPLY[@]/#/$list}")
}
"#;

const ZSH: &str = "    [[ ${words[CURRENT-1]} == (-m|--metrics|--on) ]] && compset -P '*,'\n";

const FISH: &str = r#"
function __capeval_in_list
    string match -q '*,*' -- (commandline -ct)
end

function __capeval_after_comma
    set -l list (string replace -r '[^,]*$' '' -- (commandline -ct))
    for name in $argv
        echo $list$name
    end
end

"#;
