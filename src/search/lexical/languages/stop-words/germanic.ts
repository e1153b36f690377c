/** Stop words of Germanic languages. The API specifies the English list. */
export const germanic: Readonly<Record<string, string>> = {
  english: `a an and are as at be but by for if in into is it no not of on or such that
    the their then there these they this to was will with`,

  german: `aber alle allem allen aller alles als also am an andere anderem anderen anderer
    anderes auch auf aus bei beim bin bis bist da damit dann das dass daß dein deine
    deinem deinen deiner deines dem den denen denn der deren des dessen dich die dies
    diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer
    eines einige einigem einigen einiger einiges er es etwas euch euer eure eurem euren
    eurer eures für gegen gewesen hab habe haben habt hast hat hatte hatten hattest hattet
    hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im in indem ins ist
    jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem
    keinen keiner keines können könnte man manche manchem manchen mancher manches mein
    meine meinem meinen meiner meines mich mir mit muss musste nach nicht nichts noch nun
    nur ob oder ohne sehr sein seine seinem seinen seiner seines selbst sich sie sind so
    solche solchem solchen solcher solches soll sollte sondern sonst über um und uns unser
    unsere unserem unseren unserer unseres unter viel vom von vor während war waren warst
    warum was weil weiter welche welchem welchen welcher welches wenn werde werden wie
    wieder will wir wird wirst wo wollen wollte würde würden zu zum zur zwar zwischen`,

  dutch: `aan af al alles als altijd andere ben bij daar dan dat de der deze die dit doch
    doen door dus een en er geen geweest haar had heb hebben heeft hem het hier hij hoe
    hun iemand iets ik in is ja je jij jou jouw kan kon kunnen maar me meer men met mij
    mijn moet na naar niet niets nog nu of om omdat onder ons onze ook op over te tegen
    toch toen tot u uit uw van veel voor want waren was wat we wel werd wie wij wil worden
    wordt zal ze zelf zich zij zijn zo zonder zou zullen`,

  danish: `ad af alle alt anden andet andre at blev blive bliver da de dem den denne der
    deres det dette dig din dine disse dit dog du efter eller en end er et for fra ham han
    hans har havde have hende hendes her hos hun hvad hvem hvis hvor i ikke ind ingen jeg
    jer jeres jo kan kunne man mange med meget men mig min mine mit mod ned nej noget
    nogle nogen nu når og også om op os over på selv sig sin sine sit skal skulle som
    sådan så thi til ud under var ved vi vil ville vor vores være været`,

  norwegian: `alle at av bare begge ble blei bli blir blitt både da de deg dei deim deira
    dem den denne der dere deres det dette di din disse ditt du dykk dykkar då eg ein eit
    eitt eller elles en enn er et ett etter for fordi fra før ha hadde han hans har hennar
    henne hennes her ho hoe honom hun hva hvem hver hvilke hvilken hvis hvor hvordan
    hvorfor i ikke ikkje ingen inn ja jeg kan korleis korso kun kunne kva kvar kvarhelst
    kven kvi kvifor man mange me med meg meget mellom men mi min mine mitt mot mykje må
    ned no noe noen noka noko nokon nokor nokre nå når og også om opp oss over på samme
    seg selv si sia sidan siden sin sine sitt sjøl skal skulle slik so som somme somt så
    sånn til um upp ut uten var vart ved vere verte vi vil ville vore vors vort vår være
    vært å`,

  swedish: `alla allt att av bara blev bli blir blivit de dem den denna deras dess dessa
    det detta dig din dina ditt du där då efter ej eller en er era ert ett från för ha
    hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan
    kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och
    också om oss på samma sedan sig sin sina sitt själv skulle som så sådan sådana sådant
    till under upp ut utan vad var vara varför varit varje vars vart vem vi vid vilka
    vilken vilket vår våra vårt än är åt över`,
}
