"""Files as people have them: for each `inrush plan` says the command that loads it, and that command is run, into SQLite, PostgreSQL and
Parquet. What is in the table then is what Python's own modules read from the file."""

import csv
import datetime as dt
import decimal
import gzip
import io
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tarfile
import xml.etree.ElementTree
import zipfile
import zoneinfo

import pytest

from conftest import kinds, make_place, same

ROWS = 300

D = decimal.Decimal
UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)


class Case:
    """What is typed after `inrush plan`, the target aside, and what the table holds then."""

    def __init__(self, *arguments, names, rows, proposed=()):
        self.arguments, self.names, self.rows = arguments, names, rows
        #: What the proposed command has besides.
        self.proposed = proposed


def some(seed):
    """Dice that fall the same way every time."""
    return random.Random(seed)


def moment(dice):
    return dt.datetime(2024, 1, 1) + dt.timedelta(seconds=dice.randrange(366 * 86_400))


def write_csv(path, rows, *, encoding="utf-8", first="", **dialect):
    with open(path, "w", newline="", encoding=encoding) as file:
        file.write(first)
        csv.writer(file, **dialect).writerows(rows)


def read_csv(path, *, encoding="utf-8", skipped=0, **dialect):
    """The header, and the records; what is empty is NULL."""
    with open(path, newline="", encoding=encoding) as file:
        for _ in range(skipped):
            file.readline()
        header, *records = csv.reader(file, **dialect)
    return header, records


def typed(records, *kinds):
    """The fields of each record as values."""
    return [tuple(kind(text) if text != "" else None for kind, text in zip(kinds, record, strict=True)) for record in records]


def number(decimal_point=".", group=""):
    return lambda text: D(text.replace(group, "").replace(decimal_point, "."))


def day(form):
    return lambda text: dt.datetime.strptime(text, form).date()


def at(form):
    def read(text):
        moment = dt.datetime.strptime(text, form)
        return moment.astimezone(UTC) if moment.tzinfo else moment

    return read


def truth(yes, no):
    return lambda text: {yes: True, no: False}[text.lower()]


def grouped(value, decimal_point, group):
    return f"{value:,}".replace(",", "\0").replace(".", decimal_point).replace("\0", group)


def european(folder):
    """As programs of the continent write: semicolons, decimal commas, a byte order mark, CRLF."""
    dice, path = some(1), folder / "umsatz.csv"
    rows = [["Nr", "Kunde", "Betrag", "Datum", "Gebucht", "Bezahlt", "Anteil"]]
    for number_ in range(1, ROWS + 1):
        amount = D(dice.randrange(-500_000, 90_000_000)) / 100
        when = moment(dice)
        rows.append([
            number_,
            dice.choice(["Müller", "Groß & Söhne", 'Café "Süd"; Köln', ""]),
            grouped(amount.quantize(D("0.01")), ",", "."),
            when.strftime("%d.%m.%Y") if number_ % 7 else "",
            when.strftime("%d.%m.%Y %H:%M"),
            dice.choice(["ja", "nein"]),
            str(D(dice.randrange(1000)) / 10).replace(".", ",") + " %",
        ])
    write_csv(path, rows, encoding="utf-8-sig", delimiter=";")
    names, records = read_csv(path, encoding="utf-8-sig", delimiter=";")
    share = lambda text: number(",")(text.removesuffix(" %")) / 100
    read = typed(records, int, str, number(",", "."), day("%d.%m.%Y"), at("%d.%m.%Y %H:%M"), truth("ja", "nein"), share)
    proposed = ["--decimal Betrag=,", "--thousands Betrag=.", "--date-format Datum=%d.%m.%Y", "--true Bezahlt=ja", "--type Anteil=percent"]
    return Case("umsatz.csv", names=names, rows=read, proposed=proposed)


def excel(folder):
    """As Excel writes it in Western Europe: not UTF-8, and a line that says what separates fields."""
    dice, path = some(2), folder / "kunden.csv"
    rows = [["Kundennummer", "Straße", "Saldo", "seit", "aktiv"]]
    for number_ in range(ROWS):
        saldo = f"{dice.randrange(1, 99_999)},{dice.randrange(100):02}"
        rows.append([f"{number_:05}", dice.choice(["Königstraße 7", "Marktplatz 1; EG", "Öden", "€-Allee"]), saldo,
                     moment(dice).strftime("%d.%m.%Y"), dice.choice(["WAHR", "FALSCH"])])
    write_csv(path, rows, encoding="cp1252", first="sep=;\r\n", delimiter=";")
    names, records = read_csv(path, encoding="cp1252", skipped=1, delimiter=";")
    read = typed(records, str, str, number(","), day("%d.%m.%Y"), truth("wahr", "falsch"))
    proposed = ["--encoding windows-1252", "--decimal Saldo=,", "--date-format seit=%d.%m.%Y", "--true aktiv=wahr"]
    return Case("kunden.csv", "--encoding", "windows-1252", names=names, rows=read, proposed=proposed)


def libreoffice(folder):
    """All texts in quotes, all values as the sheet shows them."""
    dice, path = some(3), folder / "Sheet export.csv"
    rows = [["Item", "Bought on", "Price", "In stock", "Weight"]]
    for _ in range(ROWS):
        rows.append([dice.choice(["Nut, M8", "Bolt", 'Pipe 1"']), moment(dice).strftime("%m/%d/%y"), f"${D(dice.randrange(1, 5_000_000)) / 100:,.2f}",
                     dice.choice(["TRUE", "FALSE"]), f"{dice.random() * 9:.3f}"])
    write_csv(path, rows, quoting=csv.QUOTE_ALL, lineterminator="\n")
    names, records = read_csv(path)
    money = lambda text: number(".", ",")(text.removeprefix("$"))
    read = typed(records, str, day("%m/%d/%y"), money, truth("true", "false"), float)
    return Case("Sheet export.csv", names=names, rows=read, proposed=["--date-format 'Bought on=%m/%d/%y'", "--type Price=money"])


def go_log(folder):
    """Nanoseconds since 1970 are whole numbers: that they are moments only a user can say."""
    dice, path = some(4), folder / "requests.csv"
    rows = [["ts", "level", "path", "took_ns", "bytes"]]
    for _ in range(ROWS):
        rows.append([1_700_000_000_000_000_000 + dice.randrange(10**15) * 1000, dice.choice(["info", "warn"]), f"/api/{dice.randrange(9)}",
                     dice.randrange(10**9), dice.choice(["", dice.randrange(10**6)])])
    write_csv(path, rows, lineterminator="\n")
    names, records = read_csv(path)
    nanoseconds = lambda text: (EPOCH + dt.timedelta(microseconds=int(text) // 1000)).replace(tzinfo=UTC)
    read = typed(records, nanoseconds, str, str, int, int)
    return Case("requests.csv", "--type", "ts=timestamp[ns]", names=names, rows=read)


def us_dates(folder):
    dice, path = some(5), folder / "orders_us.csv"
    rows = [["order", "placed", "shipped", "total", "refund", "rate"]]
    for number_ in range(ROWS):
        when = moment(dice)
        hour = when.hour % 12 or 12
        placed = f"{when.month}/{when.day}/{when.year} {hour}:{when.minute:02} {'AM' if when.hour < 12 else 'PM'}"
        refund = dice.choice(["", f"({dice.randrange(1, 99)}.00)", f"{dice.randrange(99)}.50"])
        rows.append([number_, placed, when.strftime("%m/%d/%Y"), f"${dice.randrange(1, 9_999):,}.{dice.randrange(100):02}", refund,
                     f"{dice.randrange(1000) / 10}%"])
    write_csv(path, rows, lineterminator="\n")
    names, records = read_csv(path)

    def money(text):
        value = number(".", ",")(text.strip("()$"))
        return -value if text.startswith("(") else value

    share = lambda text: number()(text.removesuffix("%")) / 100
    read = typed(records, int, at("%m/%d/%Y %I:%M %p"), day("%m/%d/%Y"), money, money, share)
    proposed = ["--timestamp-format 'placed=%m/%d/%Y %I:%M %p'", "--date-format shipped=%m/%d/%Y", "--type total=money",
                "--type refund=money", "--type rate=percent"]
    return Case("orders_us.csv", names=names, rows=read, proposed=proposed)


def survey(folder):
    """Answers with line breaks in them, and yes and no."""
    dice, path = some(6), folder / "survey.csv"
    rows = [["id", "answer", "would come again", "newsletter"]]
    for number_ in range(ROWS):
        answer = dice.choice(["fine", 'He said "no"\nand left', "a, b\r\nc", "", "  padded "])
        rows.append([number_, answer, dice.choice(["Yes", "No"]), dice.choice(["y", "n", ""])])
    write_csv(path, rows, lineterminator="\n")
    names, records = read_csv(path)
    read = typed(records, int, str, truth("yes", "no"), truth("y", "n"))
    proposed = ["--true 'would come again=yes'", "--true newsletter=y"]
    return Case("survey.csv", names=names, rows=read, proposed=proposed)


def ministry(folder):
    """An archive of several tables, with a document beside them."""
    dice, path = some(7), folder / "statistik.zip"
    names = ["Gemeinde", "Stichtag", "Einwohner", "Fläche"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Erläuterungen.pdf", b"%PDF-1.4 nothing of interest")
        for year in (2022, 2023, 2024):
            text = io.StringIO()
            table = csv.writer(text, delimiter=";")
            table.writerow(names)
            for number_ in range(ROWS // 3):
                area = f"{dice.randrange(900) / 10}".replace(".", ",")
                table.writerow([f"{number_:08}", f"31.12.{year}", grouped(dice.randrange(1000, 4_000_000), ",", "."), area])
            archive.writestr(f"daten/{year}.csv", "\ufeff" + text.getvalue())
    read = []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist()[1:]:
            text = archive.read(name).decode("utf-8-sig")
            records = list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))[1:]
            read += typed(records, str, day("%d.%m.%Y"), number(",", "."), number(","))
    proposed = ["--date-format Stichtag=%d.%m.%Y", "--thousands Einwohner=.", "--decimal Fläche=,"]
    return Case("statistik.zip", names=names, rows=read, proposed=proposed)


def workbook(folder):
    """The second sheet of a workbook; one of its columns are texts, as whoever pasted them left them."""
    openpyxl = pytest.importorskip("openpyxl")
    dice, path = some(8), folder / "planung.xlsx"
    book = openpyxl.Workbook()
    book.active.append(["nothing", "here"])
    sheet = book.create_sheet("Q1 2024")
    sheet.append(["Auftrag", "Termin", "Beginn", "Stunden", "fertig", "Satz", "Notiz"])
    for number_ in range(ROWS):
        when = moment(dice)
        sheet.append([number_, when.date(), when, dice.randrange(100) / 4, dice.choice([True, False]),
                      grouped(D(dice.randrange(100_000, 999_999)) / 100, ",", "."), dice.choice(["siehe \"oben\"", None, "ä;ö"])])
    book.save(path)
    sheet = openpyxl.load_workbook(path, read_only=True)["Q1 2024"]
    names, *records = [list(row) for row in sheet.iter_rows(values_only=True)]
    # It makes whole numbers of whole doubles, whatever the others of their column are.
    read = [(a, b.date(), c, float(d), e, number(",", ".")(f), g) for a, b, c, d, e, f, g in records]
    return Case("planung.xlsx!Q1 2024", names=names, rows=read, proposed=["--decimal Satz=,", "--thousands Satz=."])


OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"


def open_document(folder):
    """A sheet as LibreOffice saves it."""
    dice, path = some(9), folder / "lager.ods"

    def cell(kind, value, shown):
        attribute = {"float": "value", "percentage": "value", "date": "date-value", "boolean": "boolean-value"}.get(kind)
        said = f' office:{attribute}="{value}"' if attribute else ""
        return f'<table:table-cell office:value-type="{kind}"{said}><text:p>{shown}</text:p></table:table-cell>'

    rows = ["".join(cell("string", "", name) for name in ["Teil", "Menge", "Anteil", "geprüft", "gut", "Preis"])]
    for number_ in range(ROWS):
        when, share = moment(dice).date(), dice.randrange(1000) / 1000
        price = f"{dice.randrange(1, 99)},{dice.randrange(100):02} €"
        rows.append(cell("string", "", f"T-{number_:04}") + cell("float", dice.randrange(1000), "") + cell("percentage", share, f"{share:%}")
                    + cell("date", when.isoformat(), when.strftime("%d.%m.%y")) + cell("boolean", dice.choice(["true", "false"]), "")
                    + cell("string", "", price))
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    content = (f'<?xml version="1.0" encoding="UTF-8"?><office:document-content xmlns:office="{OFFICE}" xmlns:table="{TABLE}" xmlns:text="{TEXT}" '
               f'office:version="1.3"><office:body><office:spreadsheet><table:table table:name="Tabelle1">{body}</table:table>'
               "</office:spreadsheet></office:body></office:document-content>")
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (f'<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" '
                f'manifest:media-type="{kind}"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>')
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    with zipfile.ZipFile(path) as archive:
        found = xml.etree.ElementTree.fromstring(archive.read("content.xml"))
    table = [list(row) for row in found.iter(f"{{{TABLE}}}table-row")]
    shown = lambda cell: "".join(cell.itertext())
    of = lambda cell, name: cell.get(f"{{{OFFICE}}}{name}")
    read = [
        (shown(a), int(of(b, "value")), float(of(c, "value")), dt.date.fromisoformat(of(d, "date-value")), of(e, "boolean-value") == "true",
         number(",")(shown(f).removesuffix(" €")))
        for a, b, c, d, e, f in table[1:]
    ]
    names = [shown(cell) for cell in table[0]]
    return Case("lager.ods", names=names, rows=read, proposed=["--type Preis=money", "--decimal Preis=,"])


def json_lines(folder):
    dice, path = some(10), folder / "events.jsonl"
    with open(path, "w", encoding="utf-8") as file:
        for number_ in range(ROWS):
            when = moment(dice)
            event = {"id": number_, "at": when.strftime("%Y-%m-%d %H:%M:%S,") + f"{dice.randrange(1000):03}", "price": f"{dice.randrange(9999)},5",
                     "tags": dice.sample(["a", "b", "ü"], 2), "ok": dice.choice(["Y", "N", None]), "ratio": dice.random()}
            file.write(json.dumps(event, ensure_ascii=number_ % 2 == 0) + "\n")
    with open(path, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    yes = truth("y", "n")
    read = [
        (one["id"], at("%Y-%m-%d %H:%M:%S,%f")(one["at"]), number(",")(one["price"]), one["tags"], one["ok"] and yes(one["ok"]), one["ratio"])
        for one in events
    ]
    proposed = ["--timestamp-format 'at=%Y-%m-%d %H:%M:%S,%f'", "--decimal price=,", "--true ok=y"]
    return Case("events.jsonl", names=list(events[0]), rows=read, proposed=proposed)


def tab_separated(folder):
    """Nothing to propose: it is written as inrush reads it."""
    dice, path = some(11), folder / "sensors.tsv.gz"
    lines = ["station\tmeasured\tvalue\tcode"]
    for _ in range(ROWS):
        value = dice.choice([f"{dice.random():.6f}", f"{dice.random():.3e}", ""])
        lines.append(f"{dice.choice('ABC')}\t{moment(dice).isoformat()}Z\t{value}\t{dice.randrange(100):03}")
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        file.write("\n".join(lines) + "\n")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        names, *records = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return Case("sensors.tsv.gz", names=names, rows=typed(records, str, dt.datetime.fromisoformat, float, str))


def web_log(folder):
    dice, path = some(12), folder / "access.log.csv"
    rows = [["client", "time", "request", "status", "user agent"]]
    for _ in range(ROWS):
        zone = dt.timezone(dt.timedelta(hours=dice.choice([-7, 0, 2])))
        rows.append([f"10.0.0.{dice.randrange(256)}", moment(dice).replace(tzinfo=zone).strftime("%d/%b/%Y:%H:%M:%S %z"), "GET /a?b=1,2 HTTP/1.1",
                     dice.choice([200, 404]), 'Mozilla/5.0 (X11; "Linux")'])
    write_csv(path, rows, delimiter="|", lineterminator="\n")
    names, records = read_csv(path, delimiter="|")
    read = typed(records, str, at("%d/%b/%Y:%H:%M:%S %z"), str, int, str)
    return Case("access.log.csv", names=names, rows=read, proposed=["--timestamp-format 'time=%d/%b/%Y:%H:%M:%S %z'"])


def months(folder):
    """A folder of a file a month, of which the second has a column more, and columns in another order."""
    dice = some(13)
    (folder / "monate").mkdir()
    columns = {"2024-01": ["id", "menge", "tag"], "2024-02": ["tag", "id", "rabatt", "menge"], "2024-03": ["id", "menge", "tag"]}
    for month, names in columns.items():
        rows = [names]
        for number_ in range(ROWS // 3):
            row = {"id": number_, "menge": f"{dice.randrange(99)},5", "tag": f"{1 + number_ % 28:02}.{month[-2:]}.2024", "rabatt": dice.choice([5, ""])}
            rows.append([row[name] for name in names])
        write_csv(folder / "monate" / f"{month}.csv", rows, delimiter=";")
    read = []
    for path in sorted((folder / "monate").iterdir()):
        names, records = read_csv(path, delimiter=";")
        for record in records:
            row = dict(zip(names, record, strict=True))
            bonus = int(row["rabatt"]) if row.get("rabatt") else None
            read.append((int(row["id"]), number(",")(row["menge"]), day("%d.%m.%Y")(row["tag"]), bonus, path.name))
    arguments = ["monate", "--new-columns", "add", "--missing-columns", "null", "--add", "datei=%file"]
    proposed = ["--decimal menge=,", "--date-format tag=%d.%m.%Y"]
    return Case(*arguments, names=["id", "menge", "tag", "rabatt", "datei"], rows=read, proposed=proposed)


def swiss(folder):
    dice, path = some(14), folder / "bilanz 2024.csv"
    rows = [["Konto", "Betrag", "Datum", "Kurs"]]
    for _ in range(ROWS):
        amount = D(dice.randrange(100_000, 99_999_999)) / 100
        rows.append([dice.choice(["Kasse", "Bank"]), grouped(amount, ".", "'"), moment(dice).strftime("%d.%m.%y"), f"CHF {dice.randrange(99)}.{dice.randrange(100):02}"])
    write_csv(path, rows, delimiter=";")
    names, records = read_csv(path, delimiter=";")
    read = typed(records, str, number(".", "'"), day("%d.%m.%y"), lambda text: D(text.removeprefix("CHF ")))
    proposed = ["--thousands ", "--date-format Datum=%d.%m.%y", "--type Kurs=money"]
    return Case("bilanz 2024.csv", names=names, rows=read, proposed=proposed)


def spaced(folder):
    """As the French and the Czechs write: thousands apart by blanks that break no line, days before months."""
    dice, path = some(15), folder / "ventes.csv"
    rows = [["réf", "montant", "le", "payé"]]
    for number_ in range(ROWS):
        amount = D(dice.randrange(100_000, 99_999_999)) / 100
        rows.append([f"F{number_}", grouped(amount, ",", "\u202f"), moment(dice).strftime("%d/%m/%Y"), dice.choice(["oui", "non"])])
    write_csv(path, rows, delimiter=";")
    names, records = read_csv(path, delimiter=";")
    read = typed(records, str, number(",", "\u202f"), day("%d/%m/%Y"), truth("oui", "non"))
    proposed = ["--decimal montant=,", "--date-format le=%d/%m/%Y", "--true payé=oui"]
    return Case("ventes.csv", names=names, rows=read, proposed=proposed)


def utf16(folder):
    """As Excel's "Unicode text" is: UTF-16 with a byte order mark, tabs, and amounts in quotes where they have commas."""
    dice, path = some(16), folder / "unicode.txt"
    rows = [["Ort", "Wert", "Stand"]]
    for _ in range(ROWS):
        rows.append([dice.choice(["Łódź", "Плзень", "東京", "a\tb"]), f"{dice.randrange(1, 9_999):,}.{dice.randrange(100):02}", moment(dice).strftime("%d.%m.%Y")])
    write_csv(path, rows, encoding="utf-16", delimiter="\t")
    names, records = read_csv(path, encoding="utf-16", delimiter="\t")
    read = typed(records, str, number(".", ","), day("%d.%m.%Y"))
    return Case("unicode.txt", names=names, rows=read, proposed=["--thousands Wert=,", "--date-format Stand=%d.%m.%Y"])


def listed(folder):
    """A list of files in several folders, some of them packed."""
    dice, read = some(17), []
    lines = ["# what was delivered"]
    for number_, name in enumerate(["a/eins.csv", "b/zwei.csv.gz", "b/drei.csv"]):
        rows = [["nr", "preis", "bezahlt"]]
        rows += [[number_ * 1000 + at, f"{dice.randrange(99)},{dice.randrange(100):02} €", dice.choice(["ja", "nein"])] for at in range(ROWS // 3)]
        text = io.StringIO()
        csv.writer(text, delimiter=";").writerows(rows)
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(text.getvalue().encode()) if name.endswith(".gz") else text.getvalue().encode())
        lines.append(name)
    (folder / "liste.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in lines[1:]:
        content = (folder / name).read_bytes()
        text = (gzip.decompress(content) if name.endswith(".gz") else content).decode()
        names, *records = csv.reader(io.StringIO(text, newline=""), delimiter=";")
        read += typed(records, int, lambda text: number(",")(text.removesuffix(" €")), truth("ja", "nein"))
    return Case("@liste.txt", names=names, rows=read, proposed=["--type preis=money", "--decimal preis=,", "--true bezahlt=ja"])


def tarred(folder):
    """A tar of a night's exports, of which one folder is meant; moments by the clocks of Berlin."""
    dice, path = some(18), folder / "export.tar.gz"
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    with tarfile.open(path, "w:gz") as archive:
        for name in ["klein/a.csv", "gross/1.csv", "gross/2.csv"]:
            rows = [["id", "zeit"]]
            for at_ in range(ROWS // 2):
                # Not at night: twice a year a clock skips an hour, or shows it again.
                when = dt.datetime(2024, 1, 1, 12) + dt.timedelta(days=dice.randrange(366), minutes=dice.randrange(600))
                rows.append([at_, when.strftime("%d.%m.%Y %H:%M")])
            text = io.StringIO()
            csv.writer(text).writerows(rows)
            member = tarfile.TarInfo(name)
            member.size = len(text.getvalue())
            archive.addfile(member, io.BytesIO(text.getvalue().encode()))
    read = []
    with tarfile.open(path) as archive:
        for name in ["gross/1.csv", "gross/2.csv"]:
            names, *records = csv.reader(io.StringIO(archive.extractfile(name).read().decode(), newline=""))
            local = at("%d.%m.%Y %H:%M")
            read += typed(records, int, lambda text: local(text).replace(tzinfo=zone).astimezone(UTC))
    arguments = ["export.tar.gz!gross/*", "--time-zone", "zeit=Europe/Berlin", "--timestamp-format", "zeit=%d.%m.%Y %H:%M"]
    return Case(*arguments, names=names, rows=read)


FILES = [european, excel, libreoffice, go_log, us_dates, survey, ministry, workbook, open_document, json_lines, tab_separated, web_log, months,
         swiss, spaced, utf16, listed, tarred]


@pytest.fixture(params=["sqlite", "parquet", *[kind for kind in kinds() if kind.startswith("postgres")]])
def target(request, tmp_path, databases):
    return make_place(request.param, tmp_path, databases)


def shell(command, folder):
    """What a user types, in the folder of the files."""
    path = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120, cwd=folder, env={**os.environ, "PATH": path})
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def is_value(got, want):
    """Whether a table's value is the file's, in whatever type the target keeps it: SQLite has no decimals."""
    if isinstance(want, D):
        return float(want) == got if isinstance(got, float) else got is not None and D(str(got)) == want
    return same(got, want)


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_the_proposed_command_loads_what_python_reads(make, target, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    case = make(folder)
    typed_words = ["inrush", "plan", *case.arguments[:1], target.url, *case.arguments[1:], "--table", target.table]
    typed_line = shlex.join(typed_words)
    last = shell(typed_line, folder).splitlines()[-1]
    # Without a proposal there is nothing to be said besides what was.
    command = last if case.proposed else typed_line.replace("inrush plan", "inrush load", 1)
    assert command.startswith("inrush load ")
    for option in case.proposed:
        assert option in command
    shell(command + " --lanes 1", folder)
    names, rows = target.read()
    assert names == case.names
    assert len(rows) == len(case.rows)
    for line, (row, wanted) in enumerate(zip(rows, case.rows), 1):
        for name, got, want in zip(names, row, wanted, strict=True):
            assert is_value(got, want), f"row {line}, {name}: {got!r} is not {want!r}"
