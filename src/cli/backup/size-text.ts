/** A readable size: "512 bytes", "20.5 KB", "3.1 GB". */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  let size = bytes
  for (const unit of ['KB', 'MB', 'GB']) {
    size /= 1000
    if (size < 999.95) return `${size.toFixed(1)} ${unit}`
  }
  return `${(size / 1000).toFixed(1)} TB`
}

/** A count of targets: "1 collection or table", "3 collections and tables". */
export function targetsText(count: number): string {
  return count === 1 ? '1 collection or table' : `${count} collections and tables`
}
