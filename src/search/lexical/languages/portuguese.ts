/**
 * Portuguese: a light stemmer after J. Savoy, and RSLP after V. Orengo and C. Huyck, "A stemming
 * algorithm for the Portuguese language" (2001). Each ending of RSLP defines the minimum length of
 * the stem, and exceptions.
 */
import { cut, inTurn, leaving, onlyOver, over, type StemmerStep } from './endings.ts'
import { rewriting } from './letters.ts'

const withoutAccents = rewriting('àáâäãå:a òóôöõ:o èéêë:e ùúûü:u ìíîï:i ç:c ñ:n ýÿ:y')

const lightPlural = cut(
  over(4, 'res', 'r'),
  over(4, 'ses', 's'),
  over(4, 'les', 'l'),
  over(4, 'zes', 'z'),
  over(3, 'ns', 'm'),
  over(4, 'eis éis', 'el'),
  over(4, 'ais', 'al'),
  over(4, 'óis', 'ol'),
  over(4, 'is', 'il'),
  over(3, 'ões ães', 'ão'),
  over(6, 'mente'),
  over(3, 's'),
)

const lightFeminine = cut(
  over(7, 'inha', 'inho'),
  over(7, 'iaca', 'iaco'),
  over(7, 'eira', 'eiro'),
  over(6, 'osa', 'oso'),
  over(6, 'ica', 'ico'),
  over(6, 'ida', 'ido'),
  over(6, 'ada', 'ado'),
  over(6, 'iva', 'ivo'),
  over(6, 'ama', 'amo'),
  over(6, 'ona', 'ão'),
  over(6, 'ora', 'or'),
  over(6, 'esa', 'ês'),
  over(6, 'na', 'no'),
)

export const portugueseLightStem: StemmerStep = onlyOver(
  3,
  inTurn(lightPlural, lightFeminine, cut(over(4, 'e a o')), withoutAccents),
)

/** Removes plurals: the first step of RSLP. */
export const portugueseMinimalStem: StemmerStep = onlyOver(
  2,
  cut(
    leaving(1, 'ns', 'm'),
    leaving(3, 'ões', 'ão'),
    leaving(1, 'ães', 'ão', 'mães'),
    leaving(1, 'ais', 'al', 'cais mais'),
    leaving(2, 'éis eis', 'el'),
    leaving(2, 'óis', 'ol'),
    leaving(2, 'is', 'il', 'lápis cais mais crúcis biquínis pois depois dois leis'),
    leaving(3, 'les', 'l'),
    leaving(3, 'res', 'r', 'árvores'),
    leaving(
      2,
      's',
      '',
      `aliás pires lápis cais mais mas menos férias fezes pêsames crúcis gás atrás moisés
       através convés ês país após ambas ambos messias depois`,
    ),
  ),
)

const adverb = cut(leaving(4, 'mente', '', '-experimente'))

const feminine = onlyOver(
  2,
  cut(
    leaving(
      3,
      'ona',
      'ão',
      'abandona lona iona cortisona monótona maratona acetona detona carona',
    ),
    leaving(2, 'ã', 'ão', 'amanhã arapuã fã divã'),
    leaving(3, 'ora', 'or'),
    leaving(
      4,
      'na',
      'no',
      `carona abandona lona iona cortisona monótona maratona acetona detona guiana campana
       grana caravana banana paisana`,
    ),
    leaving(3, 'inha', 'inho', 'rainha linha minha'),
    leaving(3, 'esa', 'ês', 'mesa obesa princesa turquesa ilesa pesa presa'),
    leaving(3, 'osa', 'oso', 'mucosa prosa'),
    leaving(3, 'íaca', 'íaco'),
    leaving(3, 'ica', 'ico', 'dica'),
    leaving(2, 'ada', 'ado', 'pitada'),
    leaving(3, 'ida', 'ido', 'vida dúvida'),
    leaving(3, 'ída', 'ido', 'recaída saída'),
    leaving(3, 'ima', 'imo', 'vítima'),
    leaving(3, 'iva', 'ivo', 'saliva oliva'),
    leaving(
      3,
      'eira',
      'eiro',
      `beira cadeira frigideira bandeira feira capoeira barreira fronteira besteira poeira`,
    ),
  ),
)

const augmentative = cut(
  leaving(5, 'díssimo abilíssimo'),
  leaving(3, 'íssimo ésimo'),
  leaving(4, 'érrimo'),
  leaving(2, 'zinho'),
  leaving(4, 'quinho', 'c'),
  leaving(4, 'uinho'),
  leaving(3, 'adinho'),
  leaving(3, 'inho', '', 'caminho cominho'),
  leaving(4, 'alhão uça'),
  leaving(4, 'aço', '', 'antebraço'),
  leaving(4, 'aça adão idão'),
  leaving(3, 'ázio', '', 'topázio'),
  leaving(4, 'arraz'),
  leaving(3, 'zarrão'),
  leaving(4, 'arrão'),
  leaving(3, 'arra'),
  leaving(2, 'zão', '', 'coalizão'),
  leaving(
    3,
    'ão',
    '',
    `aptidão barão bilhão camarão campeão canção capitão chimarrão colchão coração cordão
     cristão embrião espião estação falcão feição ficção fogão folião furacão fusão gamão
     glutão grotão ilusão lampião leilão leão limão macacão mamão melão milhão nação orgão
     patrão portão quinhão rincão senão tração órfão`,
  ),
)

const noun = cut(
  leaving(4, 'encialista'),
  leaving(5, 'alista'),
  leaving(3, 'agem', '', '-coragem -chantagem -vantagem -carruagem'),
  leaving(4, 'iamento'),
  leaving(3, 'amento', '', '-firmamento -fundamento -departamento'),
  leaving(3, 'imento'),
  leaving(6, 'mento', '', '-elemento -complemento -instrumento -firmamento -departamento'),
  leaving(4, 'alizado atizado'),
  leaving(4, 'tizado', '', '-alfabetizado'),
  leaving(5, 'izado', '', '-organizado -pulverizado'),
  leaving(4, 'ativo', '', '-pejorativo -relativo'),
  leaving(4, 'tivo', '', '-relativo'),
  leaving(4, 'ivo', '', '-passivo -possessivo -pejorativo -positivo'),
  leaving(2, 'ado', '', '-grado'),
  leaving(3, 'ido', '', '-cândido -consolido -rápido -decido -tímido -duvido -marido'),
  leaving(3, 'ador edor'),
  leaving(4, 'idor dor', '', '-ouvidor'),
  leaving(4, 'sor', '', '-assessor'),
  leaving(5, 'atoria'),
  leaving(
    3,
    'tor',
    '',
    '-benfeitor -leitor -editor -pastor -produtor -promotor -consultor',
  ),
  leaving(
    2,
    'or',
    '',
    `-motor -melhor -redor -rigor -sensor -tambor -tumor -assessor -benfeitor -pastor
     -terior -favor -autor`,
  ),
  leaving(5, 'abilidade'),
  leaving(4, 'icionista'),
  leaving(5, 'cionista ionista ionar'),
  leaving(4, 'ional'),
  leaving(3, 'ência'),
  leaving(4, 'ância', '', '-ambulância'),
  leaving(3, 'edouro'),
  leaving(3, 'queiro', 'c'),
  leaving(4, 'adeiro', '', '-desfiladeiro'),
  leaving(3, 'eiro', '', '-desfiladeiro -pioneiro -mosteiro'),
  leaving(3, 'uoso'),
  leaving(3, 'oso', '', '-precioso'),
  leaving(5, 'alizaç atizaç tizaç'),
  leaving(5, 'izaç', '', '-organizaç'),
  leaving(3, 'aç', '', '-equaç -relaç'),
  leaving(3, 'iç', '', '-eleiç'),
  leaving(3, 'ário', '', '-voluntário -salário -aniversário -diário -lionário -armário'),
  leaving(3, 'atório'),
  leaving(
    5,
    'rio',
    '',
    `-voluntário -salário -aniversário -diário -compulsório -lionário -próprio -stério
     -armário`,
  ),
  leaving(6, 'ério'),
  leaving(4, 'ês'),
  leaving(3, 'eza'),
  leaving(4, 'ez esco'),
  leaving(2, 'ante', '', '-gigante -elefante -adiante -possante -instante -restaurante'),
  leaving(4, 'ástico', '', '-eclesiástico'),
  leaving(3, 'alístico'),
  leaving(4, 'áutico êutico'),
  leaving(
    3,
    'tico',
    '',
    `-político -eclesiástico -diagnostico -prático -doméstico -diagnóstico -idêntico
     -alopático -artístico -autêntico -eclético -crítico -critico`,
  ),
  leaving(4, 'ico', '', '-tico -público -explico'),
  leaving(5, 'ividade'),
  leaving(4, 'idade', '', '-autoridade -comunidade'),
  leaving(4, 'oria', '', '-categoria'),
  leaving(5, 'encial'),
  leaving(4, 'ista'),
  leaving(5, 'auta'),
  leaving(4, 'quice', 'c'),
  leaving(4, 'ice', '', '-cúmplice'),
  leaving(3, 'íaco'),
  leaving(4, 'ente', '', '-freqüente -alimente -acrescente -permanente -oriente -aparente'),
  leaving(5, 'ense'),
  leaving(3, 'inal'),
  leaving(4, 'ano'),
  leaving(2, 'ável', '', '-afável -razoável -potável -vulnerável'),
  leaving(3, 'ível', '', '-possível'),
  leaving(5, 'vel', '', '-possível -vulnerável -solúvel'),
  leaving(3, 'bil', 'vel'),
  leaving(4, 'ura', '', '-imatura -acupuntura -costura'),
  leaving(4, 'ural'),
  leaving(3, 'ual', '', '-bissexual -virtual -visual -pontual'),
  leaving(3, 'ial'),
  leaving(
    4,
    'al',
    '',
    `-afinal -animal -estatal -bissexual -desleal -fiscal -formal -pessoal -liberal -postal
     -virtual -visual -pontual -sideral -sucursal`,
  ),
  leaving(4, 'alismo ivismo'),
  leaving(3, 'ismo', '', '-cinismo'),
)

const verb = cut(
  leaving(2, 'aríamo ássemo eríamo êssemo'),
  leaving(3, 'iríamo íssemo'),
  leaving(2, 'áramo árei aremo ariam aríei ássei assem ávamo'),
  leaving(3, 'êramo eremo eriam eríei êssei essem íramo iremo iriam iríei íssei issem'),
  leaving(2, 'ando'),
  leaving(3, 'endo indo ondo'),
  leaving(2, 'aram arão arde arei arem aria armo asse aste'),
  leaving(2, 'avam', '', '-agravam'),
  leaving(2, 'ávei'),
  leaving(3, 'eram erão erde erei êrei erem eria ermo esse'),
  leaving(3, 'este', '', '-faroeste -agreste'),
  leaving(3, 'íamo iram íram'),
  leaving(2, 'irão irde'),
  leaving(3, 'irei', '', '-admirei'),
  leaving(3, 'irem', '', '-adquirem'),
  leaving(3, 'iria irmo isse'),
  leaving(4, 'iste'),
  leaving(4, 'iava', '', '-ampliava'),
  leaving(2, 'amo'),
  leaving(3, 'iona'),
  leaving(2, 'ara', '', '-arara -prepara'),
  leaving(2, 'ará', '', '-alvará'),
  leaving(2, 'are', '', '-prepare'),
  leaving(2, 'ava', '', '-agrava'),
  leaving(2, 'emo'),
  leaving(3, 'era', '', '-acelera -espera'),
  leaving(3, 'erá'),
  leaving(3, 'ere', '', '-espere'),
  leaving(3, 'iam', '', '-enfiam -ampliam -elogiam -ensaiam'),
  leaving(3, 'íei'),
  leaving(3, 'imo', '', '-reprimo -intimo -íntimo -nimo -queimo -ximo'),
  leaving(3, 'ira', '', '-fronteira -sátira'),
  leaving(3, 'ído irá'),
  leaving(4, 'tizar', '', '-alfabetizar'),
  leaving(5, 'izar', '', '-organizar'),
  leaving(5, 'itar', '', '-acreditar -explicitar -estreitar'),
  leaving(3, 'ire', '', '-adquire'),
  leaving(3, 'omo'),
  leaving(2, 'ai am'),
  leaving(4, 'ear', '', '-alardear -nuclear'),
  leaving(2, 'ar', '', '-azar -bazaar -patamar'),
  leaving(3, 'uei'),
  leaving(5, 'uía', 'u'),
  leaving(3, 'ei'),
  leaving(3, 'guem', 'g'),
  leaving(2, 'em', '', '-alem -virgem'),
  leaving(2, 'er', '', '-éter -pier'),
  leaving(3, 'eu', '', '-chapeu'),
  leaving(
    3,
    'ia',
    '',
    `-estória -fatia -acia -praia -elogia -mania -lábia -aprecia -polícia -arredia -cheia
     -ásia`,
  ),
  leaving(3, 'ir', '', '-freir'),
  leaving(3, 'iu'),
  leaving(5, 'eou'),
  leaving(3, 'ou i'),
)

const lastVowel = cut(
  leaving(2, 'bil', 'vel'),
  leaving(2, 'gue', 'g', '-gangue -jegue'),
  leaving(3, 'á'),
  leaving(3, 'ê', '', '-bebê'),
  leaving(3, 'a', '', '-ásia'),
  leaving(3, 'e'),
  leaving(3, 'o', '', '-ão'),
)

export function portugueseStem(word: string): string {
  const plain = augmentative(feminine(adverb(portugueseMinimalStem(word))))
  const withoutNoun = noun(plain)
  if (withoutNoun !== plain) return withoutAccents(withoutNoun)
  const withoutVerb = verb(plain)
  return withoutAccents(withoutVerb === plain ? lastVowel(plain) : withoutVerb)
}
