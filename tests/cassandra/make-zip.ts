/** A zip archive of small files, stored without compression. */
import { crc32 } from 'node:zlib'

export function makeZip(files: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const [nameBytes, bytes] = [Buffer.from(name), Buffer.from(content)]
    // Fields that both headers of a file contain. The first field is the version required to
    // extract the file.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(bytes.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    parts.push(signature(0x04034b50), common, nameBytes, bytes)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    directory.push(signature(0x02014b50), Buffer.of(20, 0), common, place, nameBytes)
    offset += 4 + common.length + nameBytes.length + bytes.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  const count = Object.keys(files).length
  end.writeUInt16LE(count, 4)
  end.writeUInt16LE(count, 6)
  end.writeUInt32LE(entries.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, entries, signature(0x06054b50), end])
}

function signature(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(number)
  return bytes
}
