/* test_cpp_files.cpp -- bouma.hpp around datasets: plain files, plans, machines,
 * options, and what verify and repair find.
 *
 *   test_cpp_files FOLDER */
#include "claims.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <type_traits>
#include <vector>

static_assert(!std::is_copy_constructible_v<bouma::file> &&
              std::is_nothrow_move_constructible_v<bouma::plan> &&
              !std::is_copy_constructible_v<bouma::memory>);

static void files_have_pieces()
{
    std::string path = folder + "/plain.dat";
    std::vector<double> heat{1, 2, 3}, back(3);
    const std::vector<std::int32_t> ids{4, 5};
    std::array<char, 4> text{'a', 'b', 'c', 'd'};
    bouma::pieces mine, there, wrong;

    mine.add(heat, 0).add(ids, 24).add(bouma::span<char>(text), 40);
    bouma::file f = bouma::file::open(path, BOUMA_FILE_MODE_CREATE);
    CHECK(f.group().ranks == 1 && f.group().rank == 0);
    CHECK(code_of([&] { f.write(mine); }) == BOUMA_ESTATE);
    f.declare(mine);
    f.write(mine);
    CHECK(f.report().bytes == 36);
    std::string why;
    wrong.add(back, 0);
    CHECK(code_of([&] { f.write(wrong); }, &why) == BOUMA_EINVAL);
    CHECK(has(why, "other sizes"));
    f.reopen(folder + "/next.dat", BOUMA_FILE_MODE_CREATE);
    f.write(mine);
    f.reopen(path, BOUMA_FILE_MODE_UPDATE);
    f.close();

    std::FILE *plain = std::fopen(path.c_str(), "rb");
    char bytes[44] = "";
    CHECK(plain && std::fread(bytes, 1, 44, plain) == 44);
    if (plain)
        std::fclose(plain);
    CHECK(bytes[24] == 4 && bytes[28] == 5 && bytes[43] == 'd');

    f = bouma::file::open(path, BOUMA_FILE_MODE_READ);
    there.add(back, 0);
    f.declare(there);
    f.read(there);
    CHECK(back == heat);
    bouma::pieces constant;
    constant.add(static_cast<const std::vector<double> &>(back), 0);
    CHECK(code_of([&] { f.read(constant); }, &why) == BOUMA_EINVAL);
    CHECK(has(why, "constant"));
    bouma::status st;
    CHECK(!bouma::file::open(folder + "/not/there", BOUMA_FILE_MODE_READ, {},
                             &st) &&
          !st && has(st.message, "not"));
    CHECK(code_of([] { bouma::file().close(); }, &why) == BOUMA_EINVAL);
    CHECK(has(why, "not open"));
}

static void plans_are_made_ahead()
{
    bouma::plan_spec spec(8, {64, 128});
    bouma::options options;
    spec.blocks[0] = 2;
    spec.blocks[1] = 4;
    spec.patch[0] = 16;
    spec.patch[1] = 32;
    options.set("files", "3").set("place", "cost");
    bouma::plan plan = bouma::plan::make(spec, options);

    CHECK(plan.report().patches == 16 && plan.report().files == 3);
    CHECK(plan.patch({0, 3}).owner == 3);
    CHECK(code_of([&] { plan.patch({0, 4}); }) == BOUMA_ENOTFOUND);
    CHECK(plan.file(2).bytes > 0 && !plan.holders(0).empty());
    CHECK(plan.rank(5).at[0] == 1 && plan.rank(5).box.lo[1] == 32);
    int chosen = 0;
    for (const bouma_plan_cost &cost : plan.explain(1))
        chosen += cost.chosen;
    CHECK(chosen == 1);
    CHECK(code_of([&] { plan.holders(3); }) == BOUMA_ENOTFOUND);
    std::string why;
    CHECK(code_of([] { bouma::plan::make(bouma::plan_spec(0, {8})); }, &why) ==
              BOUMA_EINVAL &&
          has(why, "rank"));
    CHECK(code_of([] { bouma::plan().report(); }) == BOUMA_EINVAL);
    CHECK(bouma::hz_template({32, 32, 32}, {4, 4, 2}) == "zzyyxxzyxzyxzyx");
    CHECK(code_of(
              [] {
                  bouma::hz_template({8, 0}, {1, 1});
              },
              &why) == BOUMA_EINVAL &&
          has(why, "shape[1] is 0"));
}

static void machines_and_options_are_told()
{
    bouma::probe_spec spec;
    std::string why;
    spec.target = "/no/such/place";
    spec.storage_bytes = 1;
    spec.tries = 1;
    CHECK(code_of([&] { bouma::probe(spec); }, &why) != BOUMA_OK &&
          has(why, "/no/such/place"));
    bouma_probe_report report{};
    report.size = sizeof(report);
    report.ranks = report.nodes = 2;
    report.network.bandwidth = 1e9;
    CHECK(has(bouma::probe_text(report), "network"));

    bouma::options options;
    options.set("order", "chunk");
    CHECK(options.get("order") == "chunk");
    CHECK(code_of([&] { options.get("colour"); }) == BOUMA_EINVAL);
    bouma::variable_spec variable;
    variable.type = BOUMA_TYPE_F32;
    variable.tolerance = 0.1;
    CHECK(bouma::grid_codec(variable) == BOUMA_CODEC_INTERP);
    CHECK(bouma::codec_info(BOUMA_CODEC_INTERP).tolerance == 1);
    CHECK(code_of([] { bouma::codec_info(static_cast<bouma_codec>(15)); }) ==
          BOUMA_EINVAL);
}

static void damage_is_found()
{
    std::string path = folder + "/damage.bouma";
    std::vector<double> values(16);
    std::vector<bouma::finding> findings;
    {
        bouma::dataset run = bouma::dataset::create(path);
        bouma::grid g = run.define_grid("grid", bouma::grid_spec({16}));
        bouma::variable v = g.define_variable<double>("v");
        run.attributes().set("title", "damage");
        CHECK(run.attributes().at(0).count == 6);
        CHECK(run.attributes().find("title").type == BOUMA_TYPE_STRING);
        CHECK(code_of([&] { run.attributes().at(1); }) == BOUMA_ENOTFOUND);
        for (int step = 0; step < 3; step++) {
            run.begin(step, step);
            v.put_borrow(bouma::view<double, 1>(values.data(), {16}));
            run.end();
        }
        run.delete_step(2);
        bouma::variable more = g.define_variable<double>("more");
        run.extend(0);
        more.put_borrow(bouma::view<double, 1>(values.data(), {16}));
        run.end();
        run.close();
        CHECK(run.steps().size() == 2);
    }
    CHECK(bouma::verify(path, BOUMA_DEPTH_FULL, &findings).damages == 0);
    CHECK(findings.empty() && bouma::losses(path).empty());
    for (const auto &file :
         std::filesystem::directory_iterator(path + "/steps/00000001"))
        if (file.path().filename().string()[0] == 'd')
            std::filesystem::remove(file.path());
    CHECK(bouma::verify(path, BOUMA_DEPTH_FULL, &findings).damages > 0);
    CHECK(!findings.empty() && findings[0].step == 1 &&
          !findings[0].text.empty());
    CHECK(bouma::repair(path, false).actions > 0);
    bouma_repair_report repaired = bouma::repair(path, true, &findings);
    CHECK(repaired.actions == 1 && repaired.hopeless == 1);
    CHECK(findings.size() == 2 && /* the damage, and what is done about it */
          findings[0].severity == BOUMA_SEVERITY_DAMAGE &&
          findings[1].severity == BOUMA_SEVERITY_NOTE);
    CHECK(bouma::losses(path).size() == 1 && bouma::losses(path)[0].step == 1);
    bouma::repair_forget(path, 1, true);
    CHECK(code_of([&] { bouma::repair_forget(path, 7, true); }) ==
          BOUMA_ENOTFOUND);
    bouma::status st;
    bouma::drain(path + ".local", path, false, {}, &st);
    CHECK(!st && has(st.message, "damage.bouma.local"));
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    files_have_pieces();
    plans_are_made_ahead();
    machines_and_options_are_told();
    damage_is_found();
    return failed != 0;
}
