import { strips } from './analyze.ts'

strips('htmlStrip', 'removes tags', [
  [{}, '', []],
  [{}, 'plain text', ['plain text']],
  [{}, '<b>bold</b> and <a href="x>y">link</a>', ['bold and link']],
  [{}, '<p>one</p><p>two<br/>three</p>', ['\none\n\ntwo\nthree\n']],
  [{}, 'a<!-- <b> not -->b<!DOCTYPE html>c<?xml version="1"?>d', ['abcd']],
  [{}, 'a<script>if (a < b) "</p>"</script>b<STYLE>p {}</Style >c', ['a\nb\nc']],
  [{}, 'a<script>never ends', ['a\n']],
  [{}, '<![CDATA[a < b]]>', ['a < b']],
  [{}, 'a < b > c <3 <', ['a < b > c <3 <']],
  [{}, '<a <b>x</b>', ['<a x']],
  [{}, '<!-- never ends', ['<!-- never ends']],
])

strips('htmlStrip', 'decodes entities', [
  [{}, '&lt;b&gt; &amp; &quot;&eacute;&#233;&#xE9;&quot;', ['<b> & "ééé"']],
  [
    {},
    'a&nbsp;b&amp c &unknown; & &; &#0; &#x110000; &eacute x',
    [...['a b& c &unknown; & &; &#0; &#x110000; &eacute x']],
  ],
  [{}, '&yuml;&Omega;&euro;&hearts;&#x1F44D;', ['ÿΩ€♥👍']],
])

strips('htmlStrip', 'keeps tags that are escaped', [
  [{ escapedTags: 'b, I' }, '<b>x</b> <i>y</i> <u>z</u>', ['<b>x</b> <i>y</i> z']],
])

strips('mapping', 'replaces the longest of the texts that match', [
  [{}, 'abc', ['abc']],
  [{ mapping: '"ph" => "f"' }, 'photo', ['foto']],
  [{ mapping: 'a => 1, ab => 2, abc => 3' }, 'abcaba', ['321']],
  [{ mapping: '"à" => "a", "\\u00e9" => "e", "x" => ""' }, 'àéx', ['ae']],
  [{ mapping: '"=>" => "to"' }, 'a=>b', ['atob']],
  [{ mapping: '"\\," => ";"' }, 'a,b', ['a;b']],
  [{ mapping: ':) => \\u263a' }, 'hi :)', ['hi ☺']],
  [{ mapping: '" " => "\\t"' }, 'a b', ['a\tb']],
  [{ mapping: '"a" => "aa"' }, 'aa', ['aaaa']],
])

strips('patternReplace', 'replaces matches in the text', [
  [{ pattern: '\\d+', replacement: '#' }, 'a1 b22', ['a# b#']],
  [{ pattern: '(\\w+) (\\w+)', replacement: '$2 $1' }, 'a b', ['b a']],
  [{ pattern: 'x' }, 'axb', ['ab']],
])

strips('cjkWidth', 'replaces characters by those of normal width', [
  [{}, 'Ｔｅｓｔ ｶﾞ', ['Test ガ']],
])

strips('persian', 'replaces the zero-width non-joiner by a space', [
  [{}, 'می\u200cخواهم', ['می خواهم']],
])
