/** Stop words of Slavic and Baltic languages, Greek and Armenian. */
export const easternEuropean: Readonly<Record<string, string>> = {
  bulgarian: `а аз ако ала бе без беше би бил била били било бъдат бъде бяха в вас ваш
    ваша вашата вече ви вие все всеки всички всичко всяка във върху ги го да дали до
    докато дори друг друга други друго е едва един една едно ето за зад заради затова защо
    защото и из или им има имат й как каква какво както какъв като кога когато което които
    кой който колко която къде където към ли ме между мен ми му на над най нас наш наша не
    него нещо нея ни ние никой нито нищо но някои някой няма обаче около освен от още пак
    по под поне поради после почти пред преди през при пък с са сам само се сега си сме
    според сред срещу сте съм със също тази така такива такъв там твой те тези ти то това
    тогава този той толкова точно трябва тук тъй тя тях у че чрез ще щом я`,

  czech: `a aby ale ani ano asi až bez bude budem budeme budete budeš budou budu by byl
    byla byli bylo byly bys být co což či do ho i já jak jako je jeho jehož jej jejich
    její jelikož jemu jen jenom jestli jestliže ještě jež ji jich jimi jiné již jsem jsi
    jsme jsou jste k kam kde kdo kdy když ke která které kterou který kteří ku mají mezi
    mi mne mnou mně moje moji my má mám máme máš máte mé mě můj může na nad nám námi nás
    náš naše naši ne nebo neboť nechť nejsou není než nic nich nim nimi ní ním o od on ona
    oni ono ony pak po pod podle pokud pouze pro proč proto protože před přede přes při s
    sám se si sice svá své svého svou svůj svých svým svými ta tak také takže tam tato te
    tě tebe ten tento teto ti tím tímto to tobě tohle toho tohoto tom tomto tomu tomuto
    toto tu tuto tvá tvé tvůj ty tyto těm těch u už v vám vámi vás váš vaše ve více však
    všechen vy z za zda zde ze že`,

  russian: `а без более больше будет будто бы был была были было быть в вам вас вдруг ведь
    во вот впрочем все всегда всего всех всю вы где да даже для до другой его ее ей ему
    если есть еще ещё ж же за зачем и из или им иногда их к как какая какой когда конечно
    кто куда ли между меня мне много может можно мой моя мы на над надо наконец нас не
    него нее ней нельзя нет неё ни нибудь никогда ним них ничего но ну о об он она они оно
    от перед по под после потом потому почти при про раз разве с сам свою себе себя сейчас
    со совсем так такой там тебя тем теперь то тогда того тоже только том тот тут ты у уж
    уже хоть чего чем через что чтоб чтобы чуть эта эти этого этой этом этот эту я её`,

  latvian: `aiz ap apakš ar arī bet bez bija biji biju bijām bijāt būs būsi būsiet būsim
    būt būšu caur dēļ es esam esat esi esmu gan gar ir it ja jau jeb jo jā jūs jūsu ka kad
    kamēr kas kaut ko kopš kur kura kuras kuri kurš kā kādēļ kāpēc kļuva kļūst kļūt lai
    līdz man mani manis mans mēs mūsu ne nedz nekā nevis no nu nē pa par pat pats pie
    pirms pret pār pēc sev sevi starp tad tai taču te tev tevi tie tiek tika tikai tiks
    tikt to tomēr tos tu tur turklāt tā tādēļ tāpēc tās un uz vai vairs var varēja varēs
    varēt viens vien virs viņa viņai viņam viņas viņi viņiem viņu viņus viņš zem šai šajā
    šie šim šis šo šos šā šī šīs`,

  lithuanian: `abi abu aš ant apie ar arba be bei bet beveik bus buvo būti dar dėl gal
    gali gi ir iš iki į ja jai jais jam jame jau jei jeigu ji jie jiems jį jis jo jog joje
    joks jos jų juk jums jumis juo juos jūs jūsų ką kad kada kadangi kai kaip kam kas kiek
    kiekvienas kieno kita kitas kito kodėl kokia koks kol kuri kurie kurio kuris kurių kur
    lyg man manęs mane mano mes mus mūsų mums ne nebuvo negu nei nėra nes net nors nuo o
    pagal per po pas pati pats prie prieš pro save savo sau su ta tačiau tad tai taigi
    taip tam tame tarp tas tau tave tavo tą tik tiek tie tiems to todėl toje toks tol tos
    tu tų tuo tuos už vis visa visas visi visų vos yra šia šiame ši šie šio šios šis šiuo
    šių šį`,

  greek: `ο η το οι τα του της των τον την τους τις και κι κ είμαι είσαι είναι είμαστε
    είστε στο στον στη στην στα στους στις σε μα αλλά από για προς με ως παρά αντί κατά
    μετά θα να δε δεν μη μην επί ενώ εάν αν τότε που πως πού πώς ποιος ποια ποιο ποιοι
    ποιες ποιων ποιους αυτός αυτή αυτό αυτοί αυτές αυτά αυτών αυτούς αυτήν αυτού αυτόν
    εκείνος εκείνη εκείνο εκείνοι εκείνες εκείνα εκείνων εκείνους όπως όμως ίσως όσο ότι
    όταν ή ούτε μου σου μας σας εγώ εσύ εμείς εσείς ένας μια μία ένα ήταν ήμουν έχω έχεις
    έχει έχουμε έχετε έχουν είχε είχαν κάθε πολύ πιο μόνο τι`,

  armenian: `այդ այլ այն այս դու դուք եմ են ենք ես եք է էի էին էինք էիր էիք էր ըստ թե ի ին
    իսկ իր իրենց կամ համար հետ հետո մենք մեր մեջ մի ն նա նաև նրա նրանց նրանք որ որը որոնք
    որպես որտեղ ու ում պիտի սա վրա և եւ բայց եթե երբ ինչ ինչպես չի չէ բոլոր իմ քո ձեր`,
}
