//! Processors.

use crate::text;

/// What the processors have done since the machine started, in ticks of a kernel clock that is the same for both numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTime {
    /// For processes, and for other virtual machines (steal). Interrupts belong to nobody.
    pub busy: u64,
    /// What other virtual machines took of that.
    pub stolen: u64,
    /// All of it.
    pub all: u64,
}

impl ProcessorTime {
    /// `None` where there is no /proc.
    pub fn now() -> Option<Self> {
        Self::parse(&text("/proc/stat")?)
    }

    /// The first line of /proc/stat; see proc_stat(5).
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let &[user, nice, system, idle, ref rest @ ..] = ticks.as_slice() else { return None };
        // iowait, irq, softirq and steal came with later kernels. What follows them (guests) is in user already.
        let later = |index: usize| rest.get(index).copied().unwrap_or_default();
        let [waiting, interrupts, soft_interrupts, stolen] = [0, 1, 2, 3].map(later);
        let busy = user + nice + system + stolen;
        Some(Self { busy, stolen, all: busy + idle + waiting + interrupts + soft_interrupts })
    }
}

/// Processors that this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The machine's load average of one minute; `None` where there is no /proc.
pub fn load_average() -> Option<f64> {
    text("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

/// The value of the first `KEY : VALUE` of /proc/cpuinfo.
pub fn cpuinfo_value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    cpuinfo.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

/// The processor's name. x86 and some others have one. ARM has numbers of the maker and the part, and perhaps the board's name.
pub fn cpu_name(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "uarch"];
    if let Some(name) = named.iter().find_map(|key| cpuinfo_value(cpuinfo, key)) {
        return Some(name.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    let maker = cpuinfo_value(cpuinfo, "CPU implementer")?;
    let part = cpuinfo_value(cpuinfo, "CPU part")?;
    let board =
        cpuinfo_value(cpuinfo, "Model").map_or(String::new(), |board| format!(" ({board})"));
    Some(format!("implementer {maker} part {part}{board}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupts_and_guests_are_no_processes() {
        let modern = "cpu  100 20 30 400 50 6 7 8 90 9\ncpu0 1 2 3 4\n";
        assert_eq!(
            ProcessorTime::parse(modern),
            Some(ProcessorTime { busy: 158, stolen: 8, all: 621 })
        );
        let ancient = "cpu 100 20 30 400\n";
        assert_eq!(
            ProcessorTime::parse(ancient),
            Some(ProcessorTime { busy: 150, stolen: 0, all: 550 })
        );
        assert_eq!(ProcessorTime::parse("cpu0 1 2 3 4\n"), None);
    }
}
