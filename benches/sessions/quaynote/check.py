"""python3 check.py WORKDIR: one line a check, ok|failed NAME."""
import hashlib, json, pathlib, re, subprocess, sys

W = pathlib.Path(sys.argv[1]).resolve()
HASH = {
    'src/report/monthly.js': 'ecc946062260cc0fd1f07147b82728c9d1232a685fa87bf90e2ea78a22946daf',
    'src/report/arrears.js': 'f8491a792c2ee0aa36e6a694a704e349284eee41424046bbaaba6934c16d5566',
    'test/report.test.js': 'e433853a934eb4b68a397ff2ed71cd0ebdeb5a7009bb13dac6ae5667198969fb',
    'plugins/winterlay.js': '584a0a71a1f946e5eecd396b8a26dba36047fd8cf24dbbdf70e76547fc34f02f',
}
CLIENTS = ['pier-kiosk', 'sundhavn-web', 'isle-office', 'moorings-bot']


def check(name, test):
    try:
        good = bool(test())
    except Exception:
        good = False
    print('ok' if good else 'failed', name)


def node(code):
    return subprocess.run(['node', '--input-type=module', '-e', code], cwd=W, capture_output=True, text=True, timeout=60)


def text(path):
    return (W / path).read_text(encoding='utf8')


def files():
    for path in W.rglob('*'):
        parts = path.relative_to(W).parts
        if path.is_file() and parts[0] not in ('.git', 'var', 'node_modules'):
            yield path


try:
    HAND = json.loads(text('release/handover.json'))
except Exception:
    HAND = {}

# --- known from the history only
for key, value in {
    'kiosk_build_red': 'kb-7731', 'kiosk_build_next': 'kb-7802', 'mock_port': 4419,
    'hands_off': ['src/report/arrears.js', 'src/report/monthly.js', 'test/report.test.js'],
    'dropped_ids': ['L-0475', 'L-0554', 'L-0606', 'L-0678', 'L-0745'], 'dropped_cents': 65450,
    'joined_ids': ['L-0493', 'L-0637', 'L-0717'], 'old_counter': 800, 'currency_assumed': 33,
}.items():
    check('handover_' + key, lambda: HAND[key] == value)
for name, count in {'calcFee': 102, 'tideWindows': 89, 'planBookings': 55, 'slug': 64}.items():
    check('handover_calls_' + name, lambda: HAND['calls'][name] == count)
check('alias_names', lambda: json.loads(node("import {ALIASES} from './src/compat/aliases.js'; console.log(JSON.stringify(ALIASES))").stdout) == {'calcFee': 'priceStay', 'findBerth': 'pickBerth', 'slug': 'keyOf'})
check('new_names_in_root', lambda: node("""import * as q from 'quaynote'; const b={length:9};
if (q.priceStay(b,'2031-07-01','2031-07-08')!==20500||q.keyOf('Ö x')!=='o-x'||q.pickBerth([], [], {boat:b,arrive:'2031-07-01',leave:'2031-07-02'})!==null) process.exit(1)""").returncode == 0)
check('release_day', lambda: re.search(r'^## 3\.6\.0 \(2031-04-09\)$', text('CHANGELOG.md'), re.M))
# --- rules and state
check('package_version', lambda: json.loads(text('package.json'))['version'] == '3.6.0')
check('handover_removal', lambda: re.fullmatch(r'5\.0(\.0)?', HAND['removal']))
check('handover_code', lambda: HAND['code'] == 'QNDEP07')
check('no_dependencies', lambda: not any(k.lower().endswith('dependencies') for k in json.loads(text('package.json'))) and not (W / 'node_modules').exists())
check('untouched_files', lambda: all(hashlib.sha256((W / p).read_bytes()).hexdigest() == d for p, d in HASH.items()))
check('no_client_names', lambda: not any(c in f.read_text(encoding='utf8', errors='replace') for f in files() for c in CLIENTS))
check('one_ledger', lambda: sorted(p.name for p in (W / 'var').iterdir()) == ['ledger.json', 'usage.log'])
check('domain_files_under_180', lambda: (W / 'src/domain').is_dir() and not (W / 'src/parts').exists() and all(len(p.read_text().splitlines()) <= 180 for p in (W / 'src/domain').rglob('*.js')))
check('tides_without_cache_credits_as_decided', lambda: (lambda: not any(re.search(r'cache|memo', re.sub(r'/\*.*?\*/|//[^\n]*', '', p.read_text(), flags=re.S), re.I) for p in (W / 'src/domain').rglob('*tide*')  if p.is_file()))() and (lambda: node("import {roundFee} from 'quaynote'; if (roundFee(-150)!==-100||roundFee(-250)!==-200) process.exit(1)").returncode == 0)())
check('core_old_names_root_silent', lambda: (lambda: node("import * as c from 'quaynote/core'; if (Object.keys(c).length!==54||c.priceStay) process.exit(1)").returncode == 0)() and (lambda: node("import {calcFee,priceStay} from 'quaynote'; calcFee({length:9},'2031-07-01','2031-07-02'); priceStay({length:9},'2031-07-01','2031-07-02')").stderr == '')())


def warning():
    out = node("import {calcFee,slug,Berth,SEASONS} from 'quaynote/core'; import * as q from 'quaynote'; const b={length:9}; process.on('warning',(w)=>console.log(w.name+'|'+w.code+'|'+w.message)); calcFee(b,'2031-07-01','2031-07-02'); calcFee(b,'2031-07-01','2031-07-02'); slug('a'); q.keyOf('a'); q.classOf(b); if (Berth!==q.Berth||SEASONS!==q.SEASONS) console.log('copy');").stdout.split('\n')
    return out[:-1] == [f"DeprecationWarning|QNDEP07|quaynote/core: {n} is now in 'quaynote', gone in 5.0" for n in ('calcFee', 'slug')]


check('warning_once_exact', warning)
check('tests_and_conventions', lambda: (lambda: subprocess.run(['node', '--test', 'test/'], cwd=W, capture_output=True, timeout=110).returncode == 0)() and (lambda: subprocess.run(['node', 'scripts/check.mjs'], cwd=W, capture_output=True, timeout=60).returncode == 0)())
check('not_committed', lambda: subprocess.run(['git', 'rev-list', '--count', 'HEAD'], cwd=W, capture_output=True, text=True).stdout.strip() in ('', '0', '1'))
