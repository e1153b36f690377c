import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  BadValue,
  readElement,
  readValue,
  shownForm,
} from '../../../src/language/columns/values.ts'
import {
  primitiveNames,
  type PrimitiveName,
} from '../../../src/language/columns/column-type.ts'
import { parseStored } from '../../../src/json/parse.ts'
import { printJson } from '../../../src/json/print.ts'

/** The stored form of a value as JSON text. The value is also given as JSON text. */
function written(type: PrimitiveName, json: string): string {
  const stored = readValue({ type }, parseStored(json), [])
  if (stored instanceof BadValue) assert.fail(`${type} refuses ${json}: ${stored.problem}`)
  assert(stored !== undefined, `${type} keeps nothing of ${json}`)
  return printJson(shownForm({ type }, stored, []))
}

function accepts(type: PrimitiveName, values: Readonly<Record<string, string>>): void {
  for (const [json, returned] of Object.entries(values))
    assert.equal(written(type, json), returned, `${type} of ${json}`)
}

function keeps(type: PrimitiveName, ...values: string[]): void {
  for (const json of values) assert.equal(written(type, json), json, `${type} of ${json}`)
}

function refuses(type: PrimitiveName, ...values: string[]): void {
  for (const json of values)
    assert(
      readValue({ type }, parseStored(json), []) instanceof BadValue,
      `${type} takes ${json}`,
    )
}

function problemOf(type: PrimitiveName, json: string): string {
  const read = readElement(type, parseStored(json), [])
  assert(read instanceof BadValue)
  return read.problem
}

const binary = '{"$binary":"AQI="}'

test('no type accepts values of other JSON types', () => {
  const other: Readonly<Record<string, readonly PrimitiveName[]>> = {
    '"!"': ['text', 'ascii'],
    '5': primitiveNames.filter((name) =>
      /int|counter|decimal|float|double/.test(name) ? name !== 'duration' : false,
    ),
    true: ['boolean'],
    [binary]: ['blob'],
    '{"$date":5}': ['timestamp'],
    '{"$uuid":"0198f2c4-6a1b-1c3d-8e4f-5a6b7c8d9e0f"}': [],
    '{}': [],
    '[]': [],
    '[1]': [],
  }
  for (const [json, types] of Object.entries(other))
    for (const name of primitiveNames) if (!types.includes(name)) refuses(name, json)
})

test('null clears a column of any type, and is not a valid element', () => {
  for (const name of primitiveNames) {
    assert.equal(readValue({ type: name }, null, []), undefined)
    assert(readElement(name, null, []) instanceof BadValue)
  }
})

test('an error states the given type and the accepted values', () => {
  assert.equal(
    problemOf('int', '"abc"'),
    'is of type String, but an int must be a whole number from -2147483648 to 2147483647',
  )
  assert.equal(
    problemOf('tinyint', '128'),
    'is not valid: a tinyint must be a whole number from -128 to 127',
  )
  assert.equal(problemOf('text', 'null'), 'is of type Null, but a text must be a string')
  assert.match(problemOf('date', '"2023-02-29"'), /^is not valid: a date must be a string/)
})

test('a counter column accepts whole numbers of 64 bits', () => {
  keeps('counter', '1', '0', '-9223372036854775808')
  refuses('counter', '"1"', '1.5', '9223372036854775808')
})

describe('texts', () => {
  test('are stored unchanged, including the empty text', () => {
    keeps('text', '""', '"a b"', '"äöü"', '"😀"', '"\\u0000"')
  })

  test('in an ascii column have characters up to U+007F', () => {
    keeps('ascii', '""', '"abc\u007f"', '"\\u0000"')
    refuses('ascii', '"\u0080"', '"ä"', '"a😀"')
  })
})

describe('whole numbers', () => {
  test('may have a zero fraction or an exponent', () => {
    for (const name of ['tinyint', 'smallint', 'int', 'bigint', 'varint'] as const) {
      accepts(name, {
        '5.00': '5',
        '1.23E+02': '123',
        '1200e-2': '12',
        '-0': '0',
        '-0.0': '0',
      })
      refuses(name, '12.5', '1e-1', '"123"', '"NaN"', '"Infinity"')
    }
  })

  test('have the range of their type', () => {
    const bounds = { tinyint: 8n, smallint: 16n, int: 32n, bigint: 64n } as const
    for (const [name, bits] of Object.entries(bounds)) {
      const type = name as keyof typeof bounds
      const bound = 2n ** (bits - 1n)
      keeps(type, String(-bound), String(bound - 1n), String(bound - 2n))
      refuses(type, String(-bound - 1n), String(bound), '1e400', '-1e400')
    }
  })

  test('in a varint column have any size, and are printed without an exponent', () => {
    const long = `1${'0123456789'.repeat(9)}123456789`
    keeps('varint', long, `-${long}`, '9223372036854775808', '-9223372036854775809')
    accepts('varint', {
      '1e30': `1${'0'.repeat(30)}`,
      '-1.5e21': `-15${'0'.repeat(20)}`,
      '1e999': `1${'0'.repeat(999)}`,
    })
    refuses('varint', '1e1000', '-1e1000', '1e2000000000', `${long}.5`)
  })
})

describe('numbers with fractions', () => {
  test('in a decimal column keep every digit', () => {
    keeps('decimal', '0.1', '-12.5', '123456789012345678901234567890.123456789', '1e+400')
    accepts('decimal', { '1.50': '1.5', '-0': '0', '1E400': '1e+400' })
    refuses('decimal', '"NaN"', '"Infinity"', '"1"')
  })

  test('in float and double columns accept the names NaN and Infinity', () => {
    for (const name of ['float', 'double'] as const) {
      keeps(name, '"NaN"', '"Infinity"', '"-Infinity"', '0.0', '0.1', '-2.5')
      refuses(name, '"nan"', '"+Infinity"', '"infinity"', '"1"', '""', '" NaN"')
      accepts(name, { '1e400': '"Infinity"', '-1e400': '"-Infinity"', '-1e-400': '0.0' })
    }
  })

  test('in a double column have the precision of 64 bits', () => {
    keeps('double', '1.7976931348623157e+308', '5e-324', '3.4028236e+38')
    accepts('double', {
      '0.1000000000000000001': '0.1',
      '9007199254740993': '9007199254740992.0',
      '-3': '-3.0',
      '1e20': '100000000000000000000.0',
      '1e21': '1e+21',
    })
  })

  test('in a float column have the precision of 32 bits, and are printed with no more digits', () => {
    keeps('float', '3.4028235e+38', '-3.4028235e+38', '1.1754944e-38', '16777216.0', '0.3')
    accepts('float', {
      '3.14159265358979': '3.1415927',
      '16777217': '16777216.0',
      '0.10000000149011612': '0.1',
      '1e39': '"Infinity"',
      '-3.5e38': '"-Infinity"',
      '-1e-50': '0.0',
    })
  })
})

describe('dates', () => {
  test('are stored unchanged', () => {
    keeps('date', '"2024-09-24"', '"0000-01-01"', '"9999-12-31"', '"1969-12-31"')
    keeps('date', '"-0001-01-01"', '"+500000-12-31"', '"+10000-01-01"', '"-10000-01-01"')
  })

  test('have leap days in leap years only', () => {
    keeps('date', '"2024-02-29"', '"2000-02-29"', '"0000-02-29"', '"-0004-02-29"')
    refuses('date', '"2023-02-29"', '"1900-02-29"', '"2100-02-29"', '"-0001-02-29"')
    refuses('date', '"2024-02-30"', '"2024-04-31"', '"2024-01-32"', '"2024-01-00"')
    refuses('date', '"2024-00-10"', '"2024-13-10"')
  })

  test('have a range of 32 bits of days', () => {
    keeps('date', '"-5877641-06-23"', '"+5881580-07-11"')
    refuses('date', '"-5877641-06-22"', '"+5881580-07-12"', '"+9999999999-01-01"')
    refuses('date', '"+10000000000-01-01"', '"-10000000000-01-01"')
  })

  test('have a sign exactly if the year is outside 0000 to 9999, and at least four digits in the year', () => {
    refuses('date', '"+2000-01-01"', '"+9999-01-01"', '"10000-01-01"', '"-0000-01-01"')
    refuses('date', '"99-01-01"', '"-1-01-01"', '"2024-1-1"', '"20240101"', '"2024-01-1"')
    refuses(
      'date',
      '""',
      '"2024"',
      '"2024-09-24T00:00:00Z"',
      '" 2024-09-24"',
      '"2024/09/24"',
    )
    refuses('date', '"+-0001-01-01"', '"2o24-01-01"', '"2024-01-01 "', '"-01-01"')
  })
})

describe('times', () => {
  test('are printed in the shortest form', () => {
    keeps('time', '"23:59"', '"00:00"', '"12:30:01"', '"23:59:59.999999999"')
    accepts('time', {
      '"23:59:00"': '"23:59"',
      '"23:59:00.000"': '"23:59"',
      '"23:59:01."': '"23:59:01"',
      '"12:30:00.5"': '"12:30:00.500"',
      '"12:30:15.123400"': '"12:30:15.123400"',
      '"12:30:15.1234"': '"12:30:15.123400"',
      '"12:30:15.000000001"': '"12:30:15.000000001"',
    })
  })

  test('have parts of two digits, and no offset', () => {
    refuses('time', '"24:00:00"', '"24:00"', '"23:60"', '"23:59:60"', '"1:30"', '"01:3"')
    refuses('time', '"12:30:00Z"', '"12:30:00+01:00"', '"12:30."', '"12:30:1"', '"12:30:"')
    refuses('time', '"12:30:00.1234567890"', '"12"', '""', '"12.30"', '"12:30:00,5"')
    refuses('time', '"-1:30"', '"12:30:00.-1"', '"T12:30"', '" 12:30"')
  })
})

describe('timestamps', () => {
  test('are stored in milliseconds, in UTC', () => {
    keeps('timestamp', '"2024-09-24T14:06:59Z"', '"1969-12-31T23:59:59.999Z"')
    keeps('timestamp', '"0000-01-01T00:00:00Z"', '"+10000-01-01T00:00:00.001Z"')
    accepts('timestamp', {
      '"2024-09-24T14:06:59.000Z"': '"2024-09-24T14:06:59Z"',
      '"2024-09-24T14:06:59.Z"': '"2024-09-24T14:06:59Z"',
      '"2024-09-24T14:06:59.5Z"': '"2024-09-24T14:06:59.500Z"',
      '"2024-09-24T14:06:59.123999999Z"': '"2024-09-24T14:06:59.123Z"',
      '"1969-12-31T23:59:59.9999Z"': '"1969-12-31T23:59:59.999Z"',
      '"2024-09-24T14:06Z"': '"2024-09-24T14:06:00Z"',
    })
  })

  test('may have an offset', () => {
    accepts('timestamp', {
      '"2024-03-01T01:30:00+02:00"': '"2024-02-29T23:30:00Z"',
      '"2024-12-31T23:30:00-01:30"': '"2025-01-01T01:00:00Z"',
      '"2024-09-24T14:06:59+0530"': '"2024-09-24T08:36:59Z"',
      '"2024-09-24T14:06:59-18"': '"2024-09-25T08:06:59Z"',
      '"2024-09-24T14:06:59+00:00:01"': '"2024-09-24T14:06:58Z"',
      '"2024-09-24T14:06:59-00:00"': '"2024-09-24T14:06:59Z"',
    })
    refuses('timestamp', '"2024-09-24T14:06:59+18:01"', '"2024-09-24T14:06:59+01:60"')
    refuses('timestamp', '"2024-09-24T14:06:59+1"', '"2024-09-24T14:06:59+"')
    refuses('timestamp', '"2024-09-24T14:06:59ZZ"', '"2024-09-24T14:06:59Z+01:00"')
    refuses('timestamp', '"2024-09-24T14:06:59+01-00"', '"2024-09-24T14:06:59+01:00:0"')
  })

  test('can be written as {"$date": …} with milliseconds', () => {
    accepts('timestamp', {
      '{"$date":0}': '"1970-01-01T00:00:00Z"',
      '{"$date":-1}': '"1969-12-31T23:59:59.999Z"',
      '{"$date":1727186819000}': '"2024-09-24T14:06:59Z"',
      '{"$date":9007199254740991}': '"+287396-10-12T08:59:00.991Z"',
      '{"$date":-9007199254740991}': '"-283457-03-21T15:00:59.009Z"',
    })
    refuses(
      'timestamp',
      '1727186819000',
      '{"$date":1.5}',
      '{"$date":"0"}',
      '{"$date":null}',
    )
  })

  test('have a range of 64 bits of milliseconds', () => {
    keeps(
      'timestamp',
      '"-292275055-05-16T16:47:04.192Z"',
      '"+292278994-08-17T07:12:55.807Z"',
    )
    refuses('timestamp', '"-292275055-05-16T16:47:04.191Z"')
    refuses(
      'timestamp',
      '"+292278994-08-17T07:12:55.808Z"',
      '"+9999999999-01-01T00:00:00Z"',
    )
  })

  test('require a day, a time and an offset', () => {
    refuses('timestamp', '"2024-09-24"', '"14:06:59Z"', '"2024-09-24T14:06:59"', '""')
    refuses('timestamp', '"2024-09-24 14:06:59Z"', '"2024-02-30T14:06:59Z"', '"T"', '"Z"')
    refuses('timestamp', '"2024-09-24T25:06:59Z"', '"2024-09-24T14:06.Z"', '"0"')
    refuses('timestamp', '"2024-09-24TZ"', '"2024-09-24T14Z"')
  })
})

describe('durations', () => {
  test('are printed in ISO 8601, with months, days and nanoseconds separate', () => {
    accepts('duration', {
      '"2h45m"': '"PT2H45M"',
      '"-8h10m"': '"-PT8H10M"',
      '"15mo10d"': '"P1Y3M10D"',
      '"1d24h"': '"P1DT24H"',
      '"500ms"': '"PT0.5S"',
      '"0s"': '"PT0S"',
      '"-0d"': '"PT0S"',
      '"1y2mo3w4d5h6m7s8ms9us10ns"': '"P1Y2M25DT5H6M7.00800901S"',
      '"1Y2MO3W4D5H6M7S8MS9US10NS"': '"P1Y2M25DT5H6M7.00800901S"',
      '"10µs"': '"PT0.00001S"',
      '"90m"': '"PT1H30M"',
      '"3600000ms"': '"PT1H"',
      '"400d"': '"P400D"',
      '"1ns"': '"PT0.000000001S"',
    })
  })

  test('can be written in ISO 8601: with designators, in weeks, and in the alternative format', () => {
    keeps(
      'duration',
      '"P1Y2M3DT4H5M6S"',
      '"-P1Y2M3DT4H5M6S"',
      '"PT0.5S"',
      '"P1M"',
      '"PT1M"',
    )
    accepts('duration', {
      '"P2W"': '"P14D"',
      '"-P2W"': '"-P14D"',
      '"P0001-02-03T04:05:06"': '"P1Y2M3DT4H5M6S"',
      '"-P0001-13-00T25:00:00"': '"-P2Y1MT25H"',
      '"P0D"': '"PT0S"',
      '"PT61S"': '"PT1M1S"',
    })
  })

  test('have each unit at most once, in order', () => {
    refuses('duration', '""', '"-"', '"1"', '"h"', '"1h1d"', '"1d1d"', '"1m1mo"', '"1.5h"')
    refuses(
      'duration',
      '"P"',
      '"PT"',
      '"P1DT"',
      '"P1S"',
      '"PT1D"',
      '"P-1D"',
      '"--1d"',
      '"+1d"',
    )
    refuses(
      'duration',
      '"1 d"',
      '"P1W2D"',
      '"P1-02-03T04:05:06"',
      '"PT1.0000000001S"',
      '"p1d"',
    )
    refuses('duration', '"1h-5m"', '"P1Y2M3D4H"', '"1d "')
  })

  test('have 32 bits of months and of days, and 64 bits of nanoseconds', () => {
    accepts('duration', {
      '"2147483647mo2147483647d9223372036854775807ns"':
        '"P178956970Y7M2147483647DT2562047H47M16.854775807S"',
      '"-2147483647mo"': '"-P178956970Y7M"',
    })
    keeps('duration', '"P178956970Y7M2147483647DT2562047H47M16.854775807S"')
    refuses('duration', '"2147483648mo"', '"178956971y"', '"2147483648d"', '"306783379w"')
    refuses('duration', '"9223372036854775808ns"', '"2562048h"', `"${'9'.repeat(40)}s"`)
  })
})

describe('UUIDs', () => {
  const uuid = '0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0f'
  const timeUuid = '0198F2C4-6A1B-1C3D-8E4F-5A6B7C8D9E0F'

  test('are printed in lower case', () => {
    keeps('uuid', `"${uuid}"`)
    accepts('uuid', { [`"${timeUuid}"`]: `"${timeUuid.toLowerCase()}"` })
    refuses('uuid', '""', '"0198f2c46a1b7c3d8e4f5a6b7c8d9e0f"', `"{${uuid}}"`, `"${uuid}0"`)
    refuses('uuid', '"0198f2c4-6a1b-7c3d-8e4f-5a6b7c8d9e0g"', '"1-1-1-1-1"')
  })

  test('in a timeuuid column have version 1', () => {
    accepts('timeuuid', { [`"${timeUuid}"`]: `"${timeUuid.toLowerCase()}"` })
    refuses('timeuuid', `"${uuid}"`)
  })

  test('can be written as {"$uuid": …} in filters only', () => {
    const wrapped = new Map([['$uuid', timeUuid]])
    for (const name of ['uuid', 'timeuuid'] as const) {
      assert(readElement(name, wrapped, []) instanceof BadValue)
      assert.equal(readElement(name, wrapped, [], true), timeUuid.toLowerCase())
      assert.equal(readElement(name, timeUuid, [], true), timeUuid.toLowerCase())
    }
    assert(
      readElement('timeuuid', new Map([['$uuid', uuid]]), [], true) instanceof BadValue,
    )
    assert(readElement('uuid', new Map([['$uuid', 'x']]), [], true) instanceof BadValue)
    assert(readElement('text', wrapped, [], true) instanceof BadValue)
  })
})

describe('addresses', () => {
  test('in IPv4 are printed with dots, whatever parts were omitted', () => {
    keeps('inet', '"127.0.0.1"', '"0.0.0.0"', '"255.255.255.255"')
    accepts('inet', {
      '"127.1"': '"127.0.0.1"',
      '"10.1.258"': '"10.1.1.2"',
      '"192.11010305"': '"192.168.1.1"',
      '"2130706433"': '"127.0.0.1"',
      '"localhost"': '"127.0.0.1"',
      '"LocalHost"': '"127.0.0.1"',
    })
    refuses(
      'inet',
      '"256.0.0.1"',
      '"1.2.3.256"',
      '"1.2.65536"',
      '"1.16777216"',
      '"4294967296"',
    )
    refuses('inet', '"1.2.3.4.5"', '"1..2"', '".1"', '"1."', '""', '"1.2.3.04"', '"0x7f.1"')
    refuses(
      'inet',
      '"127.0.0.1:80"',
      '"10.0.0.0/8"',
      '"example.org"',
      '"-1"',
      '" 127.0.0.1"',
    )
  })

  test('in IPv6 are printed with all groups', () => {
    keeps('inet', '"2001:db8:0:0:0:0:0:1"', '"0:0:0:0:0:0:0:1"', '"0:0:0:0:0:0:0:0"')
    accepts('inet', {
      '"::1"': '"0:0:0:0:0:0:0:1"',
      '"::"': '"0:0:0:0:0:0:0:0"',
      '"2001:DB8::00ff"': '"2001:db8:0:0:0:0:0:ff"',
      '"1::"': '"1:0:0:0:0:0:0:0"',
      '"1:2:3:4:5:6:7::"': '"1:2:3:4:5:6:7:0"',
      '"64:ff9b::192.0.2.33"': '"64:ff9b:0:0:0:0:c000:221"',
      '"::1.2.3.4"': '"0:0:0:0:0:0:102:304"',
      '"1:2:3:4:5:6:1.2.3.4"': '"1:2:3:4:5:6:102:304"',
    })
    refuses(
      'inet',
      '":"',
      '":::"',
      '"1:2"',
      '"1:2:3:4:5:6:7:8:9"',
      '"1::2::3"',
      '"12345::"',
    )
    refuses('inet', '"1:2:3:4::5:6:7:8"', '":1:2:3:4:5:6:7"', '"1:2:3:4:5:6:7:"', '"g::"')
    refuses('inet', '"::1/128"', '"[::1]"', '"[::1]:80"', '"fe80::1%eth0"', '"::1.2.3"')
    refuses(
      'inet',
      '"1.2.3.4::"',
      '"::1.2.3.4:5"',
      '"1:2:3:4:5:6:7:1.2.3.4"',
      '"::256.0.0.1"',
    )
  })

  test('in IPv6 that are IPv4-mapped are stored as IPv4 addresses', () => {
    accepts('inet', {
      '"::ffff:1.2.3.4"': '"1.2.3.4"',
      '"0:0:0:0:0:FFFF:102:304"': '"1.2.3.4"',
      '"::fffe:1.2.3.4"': '"0:0:0:0:0:fffe:102:304"',
    })
  })
})

test('a boolean is true or false', () => {
  keeps('boolean', 'true', 'false')
  refuses('boolean', '"true"', '1', '0')
})

test('a blob is padded standard Base64', () => {
  keeps('blob', binary, '{"$binary":""}', '{"$binary":"/+8="}')
  // The last character of "AR==" has four bits beyond the last whole byte. They are cleared:
  // "AQ==".
  accepts('blob', { '{"$binary":"AR=="}': '{"$binary":"AQ=="}' })
  refuses('blob', '"AQI="', '{"$binary":"AQI"}', '{"$binary":"-_8="}', '{"$binary":5}')
  refuses('blob', '{"$binary":"AQI=","a":1}', '{"binary":"AQI="}')
})
