/** Times in the format of the `sealwax` command. */

/** The two largest units of a duration in seconds, such as `3d 4h`, `5m 12s` or `0s`. */
export function duration(seconds: number): string {
  const units = [
    `${Math.floor(seconds / 86_400)}d`,
    `${Math.floor(seconds / 3600) % 24}h`,
    `${Math.floor(seconds / 60) % 60}m`,
    `${seconds % 60}s`,
  ];
  const first = units.findIndex((unit) => !unit.startsWith('0'));
  if (first < 0) return '0s';
  const told = units.slice(first, first + 2);
  return told.filter((unit, index) => index === 0 || !unit.startsWith('0')).join(' ');
}

/** Unix milliseconds as `YYYY-MM-DDTHH:MM:SSZ`. */
export function moment(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds > 253_402_207_200) return 'after the year 9999';
  return new Date(seconds * 1000).toISOString().replace('.000', '');
}

/** Returns the distance of a time from now, in words. */
export function ago(ms: number): string {
  const seconds = Math.floor(Date.now() / 1000) - Math.floor(ms / 1000);
  return seconds >= 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}
