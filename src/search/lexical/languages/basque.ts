/**
 * Basque, after the Snowball algorithm: repeatedly removes endings of verbs, then repeatedly
 * endings of nouns, then one ending of an adjective.
 */
import { endingTable, longestEnding } from './endings.ts'
import { afterRoot, syllables } from './regions.ts'

/** The region in which an ending must begin, or the replacement of an ending in any position. */
type EndingRule = 'rv' | 'r1' | 'r2' | { readonly by: string }

const verbEndings = longestEnding(
  endingTable<EndingRule>(
    [
      `ago aldatu aldi aldia an arazi ari atu atze bera bide bidea dako du dura ean era
       erreza errez eta etan etari ez eza ezin ezina gai gaia gailu gailua gaitz gaitza
       gale galea go gune gunea gura ide idea ka kaitz kaitza kan kari karia karri karria
       kera keta ki kide kidea kin kina kizun kizuna kor korra kuna kunde kundea kune
       kunea kuntza kura la lari le men mena or orra pen pena pera pide pidea rean rekin
       taile tailea taldi taldia tarazi tari tatu tezin tezina tio tu tun tuna tura tzaga
       tzaile tzailea tzaka tzake tzat tze tzeke tzez`,
      'rv',
    ],
    ['garri garria tza', 'r2'],
    ['atseden', { by: 'atseden' }],
    ['arabera', { by: 'arabera' }],
    ['baditu', { by: 'baditu' }],
  ),
)

const nounEndings = longestEnding(
  endingTable<EndingRule>(
    [
      `ada ail aizun ak alde aldea aldi aldia anda anga antza ar ara ari aria aro aroa
       arte artea asi asia asun asuna aurre aurrea behar bera bizia burua dar dara degi
       degia denda di du dua dun duna duri duria duru durua egi egia ek eko eme emea ena
       enea eria ero eroa eroz eroza estu estua eta etako etan etara etxe etxea ez eza
       ezia ga gabe gabea gai gaia garna garren garrena ge gei geia gela gerren gerrena
       gibel gibela gile gilea gintza gintzo gintzu giro go goi gune gunea handi handia ka
       kabe kabea kada kail kaila kalde kaldea kan kana kari karia kera keria ket keta ki
       kia kide kin kina kintza kirri kirria ko koa koi koia koitz koitza kondo kondoa kor
       korra kote kotea kume kumea kuntza lari laria larri larria leku lekua liar liara
       mendi mendia mendu mendua mentu mentua min mina na nahi nahia ne nea ngo ngoa no
       noa ohi ohia oi oia ola ondo ondoa ontzi ontzia orde ordea ordu ordua oro oroa os
       osa oso osoa oste ostea pe pea pera ra ro sa ska skila sko sta ta tako takoa talde
       taldea taldi taldia tan tar tara tari taria tarik tariko taro taroa tasun tasuna te
       tea tegi tegia teria ti tia tiar tiara tila to toa toki tokia tra tsu tsua tto ttoa
       tu tua tuko txo txoa txu txua tz tzain tzaina tzale tzalea tzar tzara tzarra tzo
       tzoa tzu tzua una une unea urren urrena xka z za zain zaina zale zalea zaro zaroa
       zino zinoa zio zioa zione zionea zka zko zkoa zp zto ztoa zu zua ñi ño ñoa`,
      'rv',
    ],
    ['en tatu ten tzen', 'r1'],
    ['buru garri garria or ora ren tza', 'r2'],
    ['joka', { by: 'jok' }],
    ['trako', { by: 'tra' }],
    ['minutuko', { by: 'minutu' }],
    ['zehar', { by: 'zehar' }],
    ['geldi', { by: 'geldi' }],
    ['igaro', { by: 'igaro' }],
    ['aurka', { by: 'aurka' }],
  ),
)

const adjectiveEndings = longestEnding(
  endingTable<EndingRule>(
    [`dade date era ero gi go ik keria ki la lanik larik rik ro tade tate to ztik`, 'rv'],
    ['zlea', { by: 'z' }],
  ),
)

const vowels = 'aeiou'

export function basqueStem(word: string): string {
  const regions = { ...syllables(word, vowels), rv: afterRoot(word, vowels) }
  let head = word
  // Replacements of removed endings. Further endings are searched in `head`, which precedes them.
  let tail = ''

  function cutOne(find: typeof verbEndings): boolean {
    const found = find(head)
    if (found === undefined) return false
    const { start, action } = found
    if (typeof action === 'string' && start < regions[action]) return false
    head = head.slice(0, start)
    if (typeof action !== 'string') tail = action.by + tail
    return true
  }

  while (cutOne(verbEndings));
  while (cutOne(nounEndings));
  cutOne(adjectiveEndings)
  return head + tail
}
