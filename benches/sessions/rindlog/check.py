"""python3 check.py WORKDIR: one line a check, ok|failed NAME."""
import collections, csv, datetime, hashlib, json, pathlib, re, sqlite3, subprocess, sys

W = pathlib.Path(sys.argv[1]).resolve()
RAW = '4b08aed8a395576bd81d288d02a3b005aa8fec01469fb134701276d791586c33'
PEOPLE = ['Sixten', 'Agda', 'Rurik', 'Torvald', 'Elvine']


def check(name, test):
    try:
        good = bool(test())
    except Exception:
        good = False
    print('ok' if good else 'failed', name)


def raw_hash():
    digest = hashlib.sha256()
    for path in sorted((W / 'raw').rglob('*')):
        if path.is_file() and '__pycache__' not in path.parts:
            digest.update(path.relative_to(W).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()


def expected():
    """Daily means of March by everything that was said."""
    seen, days = set(), collections.defaultdict(list)
    for path in sorted((W / 'raw/climate').glob('*.csv')):
        for row in csv.DictReader(path.open(newline='')):
            key = (row['probe'], row['time'])
            if key in seen:
                continue
            seen.add(key)
            try:
                value = float(row['temp'])
            except ValueError:
                continue
            if value <= -100:
                continue
            at = datetime.datetime.fromisoformat(row['time'])
            probe, cellar = row['probe'], 'K' + row['probe'][1]
            if probe == 'P1':
                at += datetime.timedelta(hours=1)
            day = at.date().isoformat()
            if probe == 'P3' and '2031-02-10' <= day <= '2031-03-16':
                value = (value - 32) * 5 / 9
            if probe == 'P2' and day >= '2031-03-01':
                value -= 0.4
            if probe in ('P4', 'P5'):
                if day in ('2031-03-12', '2031-03-27'):
                    continue
                if '2031-03-12' < day < '2031-03-27':
                    cellar = 'K5' if cellar == 'K4' else 'K4'
            days[cellar, day].append(value)
    return {key: sum(v) / len(v) for key, v in days.items() if len(v) >= 18 and '2031-03-01' <= key[1] <= '2031-03-31'}


try:
    GOT = {(row['cellar'], row['day']): float(row['mean']) for row in csv.DictReader((W / 'final/march.csv').open(newline=''))}
except Exception:
    GOT = {}
try:
    A = json.loads((W / 'final/answers.json').read_text(encoding='utf8'))
except Exception:
    A = {}
WANT = expected()


def near(test):
    keys = [key for key in WANT if test(*key)]
    return keys and all(abs(GOT[key] - WANT[key]) <= 0.0061 for key in keys)


# --- from the history only
check('march_days_of_the_swap_left_out', lambda: GOT and not any(k in GOT for k in [(c, d) for c in ('K4', 'K5') for d in ('2031-03-12', '2031-03-27')]))
check('march_swap_turned_back', lambda: near(lambda c, d: c in ('K4', 'K5') and '2031-03-12' < d < '2031-03-27'))
check('march_probe2_by_0.4', lambda: near(lambda c, d: c == 'K2'))
check('march_probe1_local_day', lambda: near(lambda c, d: c == 'K1'))
check('march_18_readings', lambda: GOT and ('K5', '2031-03-11') in GOT and ('K3', '2031-03-29') not in GOT)
for key, value in {
    'spool_refused': {'negative': 24, 'time': 4, 'cellar': 8}, 'spool_taken': 204,
    'battery_last': {'g1': 3299, 'g2': 3037, 'g3': 3174, 'g4': 2969},
    'door_rows_before': 600, 'lab_order': 'HL-2290', 'bath_port': 7714, 'next_probe_for_k3': 'P8',
    'tasting_batches': [24, 33], 'weigh_day_from_june': 'tuesday',
}.items():
    check('answer_' + key, lambda: A[key] == value)
check('answer_sale', lambda: A["sale"] == [21, 22, 23, 25, 26, 27, 28, 30, 32, 34])
# --- rules and state
check('march_fahrenheit', lambda: near(lambda c, d: c == 'K3'))
check('march_no_extra_days', lambda: set(GOT) == set(WANT))
check('march_two_decimals', lambda: all(re.fullmatch(r'K\d,2031-03-\d\d,\d+\.\d\d', x) for x in (W / 'final/march.csv').read_text().splitlines()[1:]))
check('raw_untouched', lambda: raw_hash() == RAW)
check('duplicates_gone_27_kept', lambda: sqlite3.connect(W / 'data/wheels.db').execute('select count(*) from weighing').fetchone()[0] == 1253)
check('no_people_in_files', lambda: not any(p in f.read_text(encoding='utf8', errors='replace') for f in W.rglob('*') if f.is_file() and f.suffix in ('.md', '.py', '.json', '.csv', '.txt') and '.git' not in f.relative_to(W).parts for p in PEOPLE))
check('standard_library', lambda: not any(re.search(r'^\s*(import|from) (numpy|pandas|matplotlib|scipy|polars|dateutil)', f.read_text(encoding='utf8'), re.M) for f in W.rglob('*.py')))
check('report_form', lambda: subprocess.run([sys.executable, 'tools/check_reports.py'], cwd=W, capture_output=True, timeout=60).returncode == 0)
check('no_forecast', lambda: not any(re.search(r'forecast|extrapolat', re.sub(r'(?i)\b(no|not|without|never)\b[^.\n]*(forecast|extrapolat)\w*', '', f.read_text(encoding='utf8')), re.I) for f in (W / 'reports').glob('*.md')))
check('no_db_copy', lambda: [f.name for f in W.rglob('*.db*')] == ['wheels.db'])
check('tests_pass', lambda: subprocess.run([sys.executable, '-m', 'unittest', 'discover', '-s', 'tests'], cwd=W, capture_output=True, timeout=100).returncode == 0)
