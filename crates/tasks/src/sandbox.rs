//! Limits what this process may do, for good: memory, time, files, and no network at all.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The rights of a child.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Allowance {
    /// Files and folders that it may read.
    pub read: Vec<PathBuf>,
    /// Folders that it may write to.
    pub write: Vec<PathBuf>,
    /// Bytes of address space.
    pub memory: u64,
    /// Seconds of processor time.
    pub seconds: u64,
    /// Threads; 0 for all processors.
    pub threads: usize,
    /// True if others come first when processors are busy.
    pub gives_way: bool,
}

/// The number that is added to the niceness of a child that gives way: beside one that does not, it gets a tenth of a
/// processor.
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 10;

/// Enters the sandbox. Must be called before any thread is started, since threads keep the rights that they began with.
#[cfg(target_os = "linux")]
pub fn enter(allowance: &Allowance) -> anyhow::Result<()> {
    limit(allowance)?;
    restrict_files(allowance)?;
    forbid_calls()
}

/// Sandboxes exist on Linux only; elsewhere the process has a cleared environment and a limit of time.
#[cfg(not(target_os = "linux"))]
pub fn enter(_: &Allowance) -> anyhow::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn limit(allowance: &Allowance) -> anyhow::Result<()> {
    if allowance.gives_way {
        rustix::process::nice(GIVES_WAY)?;
    }
    use rustix::process::{Resource, Rlimit, setrlimit};
    let set = |resource, most: u64| setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    set(Resource::As, allowance.memory)?;
    set(Resource::Cpu, allowance.seconds)?;
    set(Resource::Nofile, 64)?;
    set(Resource::Core, 0)?;
    if allowance.write.is_empty() {
        set(Resource::Fsize, 0)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn restrict_files(allowance: &Allowance) -> anyhow::Result<()> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope, path_beneath_rules,
    };
    let abi = ABI::V6;
    Ruleset::default()
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(&allowance.read, AccessFs::from_read(abi)))?
        .add_rules(path_beneath_rules(&allowance.write, AccessFs::from_all(abi)))?
        .restrict_self()?;
    Ok(())
}

/// Calls that no task needs: the network, other programs, other processes.
#[cfg(target_os = "linux")]
fn forbid_calls() -> anyhow::Result<()> {
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule,
    };
    let forbidden = [
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_sendto,
        libc::SYS_sendmsg,
        libc::SYS_sendmmsg,
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_bpf,
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_userfaultfd,
        libc::SYS_perf_event_open,
    ];
    // A process that ends itself sends a signal to its own thread.
    let own = u64::from(std::process::id());
    let to_others = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, own)?;
    let signals = (libc::SYS_tgkill, vec![SeccompRule::new(vec![to_others])?]);
    let filter = SeccompFilter::new(
        forbidden.into_iter().map(|call| (call, Vec::new())).chain([signals]).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    Ok(())
}
