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
    /// True if it may start programs, each of which enters a narrower sandbox ([`run_program`](crate::run_program)).
    pub programs: bool,
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
    forbid_calls(allowance)
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

/// Enters the sandbox of a program that someone else wrote, within that of the child that starts it: it writes to no
/// file, is one process, touches no other, and ends with the thread that has started it.
#[cfg(target_os = "linux")]
pub fn enter_as_program() -> anyhow::Result<()> {
    use landlock::{ABI, AccessFs, Ruleset, RulesetAttr, RulesetStatus};
    use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
    use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
    set_parent_process_death_signal(Some(Signal::KILL))?;
    setrlimit(Resource::Fsize, Rlimit { current: Some(0), maximum: Some(0) })?;
    let writing = Ruleset::default().handle_access(AccessFs::from_write(ABI::V6))?.create()?;
    anyhow::ensure!(
        writing.restrict_self()?.ruleset != RulesetStatus::NotEnforced,
        "this system has no Landlock, without which it could read all files"
    );
    let mut rules: Rules = OF_OTHERS.into_iter().map(|call| (call, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    rules.extend(OLD.into_iter().map(|call| (call, Vec::new())));
    rules.extend([
        own_signals()?,
        // Threads are no new processes.
        (libc::SYS_clone, vec![if_argument(0, MaskedEq(libc::CLONE_THREAD as u64), 0)?]),
        (libc::SYS_prlimit64, vec![if_argument(0, Ne, 0)?]),
        (libc::SYS_prctl, vec![if_argument(0, Eq, libc::PR_SET_PDEATHSIG as u64)?]),
    ]);
    let of_argument = |values: &[libc::c_int]| -> anyhow::Result<Vec<_>> {
        values.iter().map(|value| if_argument(1, Eq, *value as u64)).collect()
    };
    // These have signals sent to other processes.
    rules.push((libc::SYS_fcntl, of_argument(&[libc::F_SETOWN, F_SETSIG, F_SETOWN_EX])?));
    rules.push((libc::SYS_ioctl, of_argument(&[FIOSETOWN, SIOCSPGRP])?));
    forbid(rules, libc::EPERM)?;
    // Its arguments are in memory. The C library calls `clone` if it does not exist.
    forbid(vec![(libc::SYS_clone3, Vec::new())], libc::ENOSYS)
}

#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;
#[cfg(target_os = "linux")]
const F_SETOWN_EX: libc::c_int = 15;
#[cfg(target_os = "linux")]
const FIOSETOWN: libc::c_int = 0x8901;
#[cfg(target_os = "linux")]
const SIOCSPGRP: libc::c_int = 0x8902;
#[cfg(target_os = "linux")]
const SYS_FCHMODAT2: libc::c_long = 452;
#[cfg(target_os = "linux")]
const SYS_SETXATTRAT: libc::c_long = 463;

/// Calls by which a process touches others of its account, and files without opening them.
#[cfg(target_os = "linux")]
const OF_OTHERS: [libc::c_long; 22] = [
    libc::SYS_kill,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SYS_SETXATTRAT,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_move_pages,
];

/// The same in calls that newer systems lack.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const OLD: [libc::c_long; 8] = [
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];

/// Calls that no task needs: the network, other processes.
#[cfg(target_os = "linux")]
const FORBIDDEN: [libc::c_long; 29] = [
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
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

/// Calls that start a program and end it.
#[cfg(target_os = "linux")]
const FOR_PROGRAMS: [libc::c_long; 3] = [libc::SYS_execve, libc::SYS_execveat, libc::SYS_kill];

#[cfg(target_os = "linux")]
fn forbid_calls(allowance: &Allowance) -> anyhow::Result<()> {
    let mut rules: Rules = FORBIDDEN.into_iter().map(|call| (call, Vec::new())).collect();
    if !allowance.programs {
        rules.extend(FOR_PROGRAMS.into_iter().map(|call| (call, Vec::new())));
        rules.push(own_signals()?);
    }
    forbid(rules, libc::EPERM)?;
    #[cfg(target_arch = "x86_64")]
    forbid_x32()?;
    Ok(())
}

/// Forbids all calls of the x32 ABI, which some kernels offer. They have numbers of their own, so a list by number
/// would let them pass.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn forbid_x32() -> anyhow::Result<()> {
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, jf, k| seccompiler::sock_filter { code: code as u16, jt: 0, jf, k };
    // The number of the call is the first field of what a filter sees. One jump: to the last line, if it is smaller.
    let program = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    seccompiler::apply_filter(&program)?;
    Ok(())
}

/// Calls with the conditions of which one must hold to forbid them; none to forbid them at all.
#[cfg(target_os = "linux")]
type Rules = Vec<(libc::c_long, Vec<seccompiler::SeccompRule>)>;

/// A process that ends itself sends a signal to its own thread.
#[cfg(target_os = "linux")]
fn own_signals() -> anyhow::Result<(libc::c_long, Vec<seccompiler::SeccompRule>)> {
    let own = u64::from(std::process::id());
    Ok((libc::SYS_tgkill, vec![if_argument(0, seccompiler::SeccompCmpOp::Ne, own)?]))
}

#[cfg(target_os = "linux")]
fn if_argument(
    place: u8,
    is: seccompiler::SeccompCmpOp,
    value: u64,
) -> anyhow::Result<seccompiler::SeccompRule> {
    use seccompiler::{SeccompCmpArgLen, SeccompCondition, SeccompRule};
    Ok(SeccompRule::new(vec![SeccompCondition::new(place, SeccompCmpArgLen::Dword, is, value)?])?)
}

#[cfg(target_os = "linux")]
fn forbid(rules: Rules, error: libc::c_int) -> anyhow::Result<()> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
    let filter = SeccompFilter::new(
        rules.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(error as u32),
        std::env::consts::ARCH.try_into()?,
    )?;
    let program: BpfProgram = filter.try_into()?;
    seccompiler::apply_filter(&program)?;
    Ok(())
}
